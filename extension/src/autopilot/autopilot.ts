/** Creates pins automatically if the user allows it, and removes them as soon as they do not help. */
import { type Decision, EVERY_ORIGIN, MINUTE_MS, SerialQueue } from '@hopwise/contract';
import type { ChoiceReason } from '@hopwise/model';
import { type NetworkCluster, poolClusters, siteKey } from '@hopwise/pageload-emulator';
import {
  findComparableLoads,
  hasSamePins,
  isSlower,
  judgeAmong,
  pltOf,
  selectSinceChange,
  visitsUntil,
} from '../evidence/comparable-loads.ts';
import { leavesUdpOpen, listSuspectingSites, slowsH3 } from '../evidence/known-udp.ts';
import { isHeld, type Reference } from '../evidence/pin-outcomes.ts';
import { describeError } from '../language/describe-error.ts';
import type { KnownLoad } from '../load/load-summary.ts';
import { networkOf } from '../load/used-network.ts';
import { listLocalOrigins } from '../pins/worker/local-origins.ts';
import type { PinManager } from '../pins/worker/pin-manager.ts';
import { isMadeAs } from '../pins/worker/pin-transaction.ts';
import { readAgeLimitMs } from '../storage/age-limit.ts';
import { getLoad, getSummaries, predictionOf, type StoredLoad } from '../storage/loads.ts';
import { findSite, listWitnesses, loadNetwork, loadNetworkMemory } from '../storage/network.ts';
import { nameNetwork, readNetworkKey, UNRECOGNISED } from '../storage/network-key.ts';
import type { AutopilotAnswer } from './autopilot-messages.ts';
import { type AutopilotRun, type EndCause, isRunning } from './autopilot-run.ts';
import {
  type AutopilotSettings,
  readAutopilotSettings,
  saveAutopilotSettings,
} from './autopilot-settings.ts';
import { addUnknownOffers, chooseRun, type Option, type PlannedRun } from './choose-run.ts';
import { chooseTrial } from './choose-trial.ts';
import { isCoolingDown } from './cool-down.ts';
import { findDecidedLoad } from './decided-load.ts';
import {
  type Experience,
  forgetExperience,
  listExperiences,
  readExperience,
  saveExperience,
} from './explorer-store.ts';
import { forgetLearnedPages, forgetPlace, type Learned, listLearned } from './learned.ts';
import { findReference, findTrouble, isNetworkSlowed, isOfRunsPage, measureLoad } from './measure-load.ts';
import {
  changeChoice,
  findChoice,
  isWantedOff,
  keepsOffH3,
  listLeftSites,
  NETWORK_PIN,
} from './network-rule.ts';
import { readRuns, saveRuns } from './run-log.ts';
import { findRule, planByRules } from './site-rules.ts';
import {
  chooseSpared,
  findsUdpHindered,
  findsUdpOpen,
  HELD_LOADS,
  isRevisable,
  isTakenForHindered,
  isWithPins,
  listFromSpared,
  SPARED_LOADS,
} from './spared-origin.ts';
import { hasChoice, isSuitable, usesH3 } from './suitable-load.ts';
import { isLeftByTraffic, planByTraffic } from './traffic-rules.ts';

/** Networks and servers change: after this time the prediction decides anew. */
const LIFETIME_MINUTES = 24 * 60;
/** A trial whose page is not loaded again ends sooner, as its pins hold for other pages too. */
const TRIAL_MINUTES = 60;
const SESSION_KEY = 'autopilot-session';
const MAX_BEFORE_LOADS = 20;

/** The parts of the pin manager in use. */
export type Pinner = Pick<
  PinManager,
  'pin' | 'unpinMade' | 'listPins' | 'isRestored' | 'whenRestored' | 'leaveSites' | 'onChange'
>;

export class Autopilot {
  readonly #pins: Pinner;
  readonly #predict: (load: StoredLoad) => Promise<StoredLoad>;
  /** Changes of the log. */
  readonly #changes = new SerialQueue();
  /** Whether the runs of the browser's last session have been ended. */
  #isOfSession = false;

  /** @param predict returns a load with its prediction */
  constructor(pins: Pinner, predict: (load: StoredLoad) => Promise<StoredLoad>) {
    this.#pins = pins;
    this.#predict = predict;
    // Each change first ends the runs whose pins have gone.
    pins.onChange(() => void this.#change(async () => undefined));
  }

  /** Measures a load against what was done before it, then acts on it. To be called once for each stored load. */
  async handleLoad(loadId: number): Promise<void> {
    if (!isAsked(await readAutopilotSettings())) return;
    await this.#change(async (runs) => {
      const settings = await readAutopilotSettings();
      const load = isAsked(settings) ? await getLoad(loadId) : undefined;
      if (load === undefined) return;
      await this.#endExpired(runs);
      if (isFirstOnNetwork(load)) {
        await forgetExperience(load.networkKey ?? null);
        const isOfThis = (run: AutopilotRun) => isOfNetwork(run) && nameNetwork(run) === nameNetwork(load);
        await this.#endRuns(
          runs.filter((run) => !isOfThis(run)),
          'network',
        );
      }
      const all = await getSummaries();
      await this.#measure(runs, load, all);
      await this.#recheckUdp(runs, load, all, settings);
      if (settings.isOn) await this.#startBest(runs, load, all, settings);
      else await this.#applyNetworkRule(runs, load, listBefore(load, all), settings);
    });
  }

  /** Acts on what a verification of a load has shown, which was handled before. */
  async handleVerification(loadId: number): Promise<void> {
    await this.#change(async (runs) => {
      const settings = await readAutopilotSettings();
      const load = settings.isOn ? await getLoad(loadId) : undefined;
      // The explorer has learned from the load already.
      if (load) await this.#startBest(runs, load, await getSummaries(), { ...settings, explores: false });
    });
  }

  /** Keeps HTTP/3 off on the network that the browser is on, for every page, or allows it. */
  switchNetwork(keepsOffH3: boolean): Promise<void> {
    return this.#change(async (runs) => {
      const networkKey = await readNetworkKey();
      await this.#changeNetworkRule(networkKey ?? UNRECOGNISED, keepsOffH3);
      if (keepsOffH3) await this.#startNetworkRun(runs, networkKey);
      else await this.#endRuns(runs.filter(isOfNetwork), 'rule');
    });
  }

  /** Whether it acts on networks at all, so that it is worth asking the helper which one the browser is on. */
  async actsOnNetworks(): Promise<boolean> {
    return isAsked(await readAutopilotSettings());
  }

  /** The helper has recognised the network: what is known of it holds from the first page on. */
  handleRecognisedNetwork(): Promise<void> {
    return this.#change(async (runs) => {
      const networkKey = await readNetworkKey();
      if (networkKey === null) return;
      const settings = await readAutopilotSettings();
      if (!keepsOffH3(networkKey, { cluster: await loadNetwork() }, settings)) return;
      if (!isNetworkCoolingDown(runs, networkKey, findChoice(networkKey, settings)))
        await this.#startNetworkRun(runs, networkKey);
    });
  }

  /** @param load which led to it, if one did. @returns whether it made the pin */
  async #startNetworkRun(
    runs: AutopilotRun[],
    networkKey: string | null,
    load: StoredLoad | null = null,
    beforeMs: number[] = [],
  ): Promise<boolean> {
    await this.#leaveSites(runs);
    const planned: PlannedRun = { trigger: 'network', pins: [NETWORK_PIN], predicted: null };
    return this.#startRun(runs, { networkKey, load }, beforeMs, planned);
  }

  /**
   * Leaves to the browser, on a network where HTTP/3 is off, what the user's rules say, and the spared origins: none where the user wants
   * HTTP/3 off.
   */
  async #leaveSites(runs: readonly AutopilotRun[]): Promise<void> {
    const settings = await readAutopilotSettings();
    const spared = runs
      .filter(isRunning)
      .flatMap((run) => (isWantedOff(run, settings) ? [] : (run.spared ?? [])));
    await this.#pins.leaveSites([...listLeftSites(settings), ...spared.map(({ origin }) => origin)]);
  }

  async #changeNetworkRule(name: string, keepsOffH3: boolean | null): Promise<void> {
    const settings = await readAutopilotSettings();
    const networkRules = changeChoice(name, keepsOffH3, settings);
    await saveAutopilotSettings({ ...settings, networkRules });
  }

  /** The browser went offline or is on another network, for which the predictions do not hold. */
  handleNetworkChange(): Promise<void> {
    return this.#change(async (runs) => {
      await forgetExperience(null);
      await this.#endRuns(runs, 'network');
      await this.#changeNetworkRule(UNRECOGNISED, null);
    });
  }

  /**
   * Makes pins of the user: those of these origins are then no longer the autopilot's. Where they are refused, they remain its own.
   *
   * @returns what `pin` does. @throws what it throws
   */
  async handOver<T>(origins: readonly string[], pin: () => Promise<T>): Promise<T> {
    let outcome: Promise<T> | undefined;
    // Within one change: that the pins are others by now is noted after it.
    await this.#change(async (runs) => {
      outcome = pin();
      const isMade = await outcome.then(
        () => true,
        () => false,
      );
      for (const run of isMade ? runs.filter(isRunning) : []) {
        const left = run.pins.filter(({ origin }) => !origins.includes(origin));
        if (left.length > 0) run.pins = left;
        else Object.assign(run, { state: 'ended', end: { atMs: Date.now(), cause: 'you', reason: '' } });
      }
    });
    return outcome!;
  }

  /**
   * Removes pins for the user, and undoes the runs that they are of.
   *
   * @returns what `unpin` does. @throws what it throws
   */
  async handleUnpin<T>(origins: readonly string[], unpin: () => Promise<T>): Promise<T> {
    let outcome: Promise<T> | undefined;
    // Within one change: no run begins in between, which would be left without its pins.
    await this.#change(async (runs) => {
      await this.#undoRuns(runs.filter(({ pins }) => pins.some(({ origin }) => origins.includes(origin))));
      outcome = unpin();
      await outcome.catch(() => undefined);
    });
    return outcome!;
  }

  async getState(): Promise<Omit<AutopilotAnswer, 'ok'>> {
    // Nothing is under way then, and the runs of the last session have ended.
    await this.#change(async () => undefined);
    const settings = await readAutopilotSettings();
    const key = await readNetworkKey();
    const memory = await loadNetworkMemory();
    const cluster = poolClusters(listWitnesses(memory, null));
    const runs = await readRuns();
    return {
      settings,
      runs: runs.toReversed(),
      learned: listLearned(await listExperiences(), key),
      network: {
        slowsH3: slowsH3({ cluster }),
        isSuspected: listSuspectingSites(memory).length > 0,
        keepsOffH3: runs.some((run) => isRunning(run) && isOfNetwork(run)),
      },
    };
  }

  /** @returns what a load's page took before its pins were made; null where the autopilot did not make them */
  async readReferences(): Promise<(load: KnownLoad) => Reference | null> {
    await this.#changes.whenIdle();
    const runs = await readRuns();
    return (load) => findReference(load, runs);
  }

  changeSettings(change: Partial<AutopilotSettings>): Promise<void> {
    return this.#change(async (runs) => {
      const settings = { ...(await readAutopilotSettings()), ...change };
      await saveAutopilotSettings(settings);
      if (!settings.isOn) {
        const isKept = (run: AutopilotRun) => isOfNetwork(run) && isWantedOff(run, settings);
        return this.#endRuns(
          runs.filter((run) => !isKept(run)),
          'off',
        );
      }
      const held = runs.filter(
        ({ trigger, pins }) => !isByRule(trigger) && pins.some(({ kind }) => kind !== 'avoid-h3'),
      );
      if (!settings.holdsProtocols) await this.#endRuns(held, 'off');
      const trials = runs.filter(({ trigger }) => trigger === 'trial');
      if (!settings.explores) {
        await this.#endRuns(trials, 'off');
        for (const { key } of await listExperiences()) await forgetExperience(key);
      }
      const ruled = runs.filter(({ trigger, pins }) =>
        pins.some(({ origin, kind }) => {
          const rule = findRule(origin, settings.siteRules);
          return rule === null ? trigger === 'rule' : rule !== kind;
        }),
      );
      await this.#endRuns(ruled, 'rule');
      await this.#leaveSites(runs);
      if (change.trafficRules) {
        const byTraffic = runs.filter(({ trigger }) => trigger === 'traffic');
        await this.#endRuns(byTraffic, 'rule');
      }
    });
  }

  /** Removes all pins that the autopilot made. */
  undoAll(): Promise<void> {
    return this.#change((runs) => this.#undoRuns(runs));
  }

  /** Ends runs for the user, who then no longer wants HTTP/3 off on their networks. */
  async #undoRuns(runs: readonly AutopilotRun[]): Promise<void> {
    for (const run of runs.filter(isRunning).filter(isOfNetwork))
      await this.#changeNetworkRule(nameNetwork(run), null);
    await this.#endRuns(runs, 'you');
  }

  /** Forgets what loads on a network have shown. */
  eraseLearned({ key, place }: Pick<Learned, 'key' | 'place'>): Promise<void> {
    return this.#change(async () => {
      const experience = await readExperience(key);
      forgetPlace(experience, place);
      await saveOrForget(key, experience);
    });
  }

  /** Undoes and forgets what was done on some pages. */
  forgetPages(isForgotten: (url: string) => boolean): Promise<void> {
    return this.#change(async (runs) => {
      const forgotten = new Set(runs.filter(({ pageUrl }) => isForgotten(pageUrl)));
      await this.#endRuns([...forgotten], 'you');
      for (const { key, ...experience } of await listExperiences()) {
        if (forgetLearnedPages(experience, isForgotten)) await saveOrForget(key, experience);
      }
      runs.splice(0, runs.length, ...runs.filter((run) => !forgotten.has(run)));
      // A network's may be of any page.
      for (const run of runs.filter(isOfNetwork)) delete run.spared;
      await this.#leaveSites(runs);
    });
  }

  /** Keeps HTTP/3 off where a load's network slows it down, or the user asked for it. @returns whether that is so */
  async #applyNetworkRule(
    runs: AutopilotRun[],
    load: StoredLoad,
    beforeMs: number[],
    settings: AutopilotSettings,
  ): Promise<boolean> {
    const choice = findChoice(nameNetwork(load), settings);
    // Not what the load's site shows alone: it would act on all others.
    const known = { cluster: await loadNetwork(), ...(load.check && { check: load.check }) };
    if (choice === null && leavesUdpOpen(known))
      await this.#endRuns(runs.filter(isOfNetwork), 'network-open');
    if (!keepsOffH3(nameNetwork(load), known, settings)) return false;
    const networkKey = load.networkKey ?? null;
    if (!isSuitable(load, await listLocalOrigins([])) || isNetworkCoolingDown(runs, networkKey, choice))
      return false;
    const isMade = await this.#startNetworkRun(runs, networkKey, load, beforeMs);
    if (isMade && beforeMs.length === 0) runs.at(-1)!.predicted = await this.#predictLaterVisits(load);
    return true;
  }

  /** What keeping a page off HTTP/3 saves is otherwise not known, where its first visit on a network was over HTTP/2. */
  async #predictLaterVisits(load: StoredLoad): Promise<AutopilotRun['predicted']> {
    if (!load.recording.requests.some(usesH3)) return null;
    const decision = predictionOf(await this.#predict(load))?.decision;
    const action = decision?.actions.find(({ kind }) => kind === 'avoid-h3');
    return decision && action ? { beforeMs: decision.baseline.laterPltMs, afterMs: action.time.pltMs } : null;
  }

  async #startBest(
    runs: AutopilotRun[],
    load: StoredLoad,
    all: readonly KnownLoad[],
    settings: AutopilotSettings,
  ): Promise<void> {
    const { recording } = load;
    if (!isSuitable(load, await listLocalOrigins([]))) return;
    const comparable = findComparableLoads(load, all);
    const isFull = judgeAmong(load, comparable) === 'full';
    const alike = comparable.filter((each) => hasSamePins(each, load));
    const beforeMs = listBefore(load, all);
    const networkKey = load.networkKey ?? null;
    const make = (planned: PlannedRun) => this.#startRun(runs, { networkKey, load }, beforeMs, planned);

    const ruled = planByRules(recording, settings.siteRules);
    if (await make({ trigger: 'rule', pins: ruled, predicted: null })) return;
    const byTraffic = planByTraffic(load, settings);
    if (await make({ trigger: 'traffic', pins: byTraffic, predicted: null })) return;
    const isOffH3 = await this.#applyNetworkRule(runs, load, beforeMs, settings);
    if (isOffH3 && !settings.holdsProtocols) return;
    const own = runs.filter((run) => isOfRunsPage(load, run));
    const isChecking = own.some((run) => run.state === 'checking' || run.spared);
    const trialOfLoad = own.find(({ end, lastLoadId }) => end?.cause === 'tried' && lastLoadId === load.id);
    // The next load is to be one without pins.
    const isUnsure = own.some(({ end, lastLoadId }) => end?.cause === 'unsure' && lastLoadId === load.id);
    if (!isFull || isChecking || isUnsure || findRule(recording.url, settings.siteRules) === 'leave') return;
    if (isLeftByTraffic(load, settings.trafficRules)) return;
    const isChanged = selectSinceChange([...alike, load]).length <= alike.length;
    const known = await readKnown(load, isChanged || isSlower(load, alike));
    if (!hasChoice(load, settings, known) && !trialOfLoad) return;
    // A verification shows more than the load of an earlier decision.
    const decided = load.verification === null ? findDecidedLoad(load, comparable) : null;
    // Where it was removed in the meantime, it decides no longer.
    const whole = (decided && (await getLoad(decided.id))) ?? (await this.#predict(load));
    const decision = predictionOf(whole)?.decision;
    if (!decision) return;
    const reason = trialOfLoad ? (trialOfLoad.reason ?? 'explore') : 'best';
    const isLearned = settings.explores && visitsUntil(load, all).judge(load) === 'later';
    const trial = isLearned ? await this.#planTrial(runs, load, decision, settings, reason) : null;
    const planned = chooseRun(decision, settings);
    const makeWhole = (run: PlannedRun) => make(addUnknownOffers(run, load, settings));
    const isMade = planned !== null && (await makeWhole(planned));
    if (trial && !isMade && !own.some(isRunning)) await makeWhole(trial);
  }

  /** Learns from a load, also where nothing is tried after it. */
  async #planTrial(
    runs: readonly AutopilotRun[],
    load: StoredLoad,
    decision: Decision,
    settings: AutopilotSettings,
    reason: ChoiceReason,
  ): Promise<PlannedRun | null> {
    const key = load.networkKey ?? null;
    const experience = await readExperience(key);
    const mayTry = ({ pins }: Option) => !isCoolingDown(pins, runs, Date.now(), key);
    const trial = chooseTrial(experience, load, decision, settings, reason, mayTry);
    await saveExperience(key, experience);
    return trial;
  }

  /** Makes those pins that are missing, all or none. @param load null where none led to it. @returns whether it made any */
  async #startRun(
    runs: AutopilotRun[],
    { networkKey, load }: { networkKey: string | null; load: StoredLoad | null },
    beforeMs: number[],
    planned: PlannedRun,
  ): Promise<boolean> {
    const { trigger, pins } = planned;
    // Before that a pin of the user's may be missing from the list.
    await this.#pins.whenRestored();
    const existing = (await this.#pins.listPins()).filter(({ state }) => state !== 'lifted');
    const own = runs.filter(isRunning).flatMap((run) => run.pins);
    const missing = pins.filter(({ origin }) => ![...existing, ...own].some((pin) => pin.origin === origin));
    // A pin of another kind is the user's own choice.
    const isOther = pins.some((pin) =>
      existing.some(({ origin, kind }) => origin === pin.origin && kind !== pin.kind),
    );
    if (missing.length === 0 || (!['rule', 'network'].includes(trigger) && isOther)) return false;
    if (trigger !== 'network' && isCoolingDown(missing, runs, Date.now(), networkKey)) return false;
    const run: AutopilotRun = {
      id: crypto.randomUUID(),
      madeAtMs: Date.now(),
      pageUrl: load?.recording.url ?? '',
      ...planned,
      pins: missing,
      beforeMs,
      afterMs: [],
      networkKey,
      lastLoadId: load?.id ?? 0,
      state: isByRule(trigger) ? 'kept' : 'checking',
      end: null,
    };
    runs.push(run);
    return this.#makePins(runs, run, missing, 'refused');
  }

  /** Makes pins of a run for the rest of its time. Where they are refused, the run ends with the cause. @returns whether they were made */
  async #makePins(
    runs: readonly AutopilotRun[],
    run: AutopilotRun,
    pins: AutopilotRun['pins'],
    refusal: EndCause,
  ): Promise<boolean> {
    const leftMinutes = minutesOf(run) - (Date.now() - run.madeAtMs) / MINUTE_MS;
    try {
      // First: where the worker ends meanwhile, no pin is without its run.
      await this.#save(runs);
      await this.#pins.pin(pins, { minutes: Math.max(1, Math.round(leftMinutes)), persistent: false });
      return true;
    } catch (error) {
      await this.#endRuns([run], refusal, await describeError(error));
      return false;
    }
  }

  async #measure(runs: readonly AutopilotRun[], load: StoredLoad, all: readonly KnownLoad[]): Promise<void> {
    for (const run of runs.filter(isRunning)) {
      const trouble = findTrouble(run, load);
      if (trouble) {
        await this.#endRuns([run], 'trouble', await describeError(trouble));
        continue;
      }
      if (await this.#doesNetworkHarm(run, load, all)) {
        await this.#endRuns([run], 'slower');
        continue;
      }
      const verdict = measureLoad(run, load, all);
      if (verdict === 'kept' || (verdict === 'unsure' && hasMadeWay(run, runs))) run.state = 'kept';
      else if (verdict !== null) await this.#endRuns([run], verdict);
    }
  }

  /** Ends the runs that keep HTTP/3 off where a load has shown that UDP is hindered no longer, and spares an origin now and then to see that. */
  async #recheckUdp(
    runs: AutopilotRun[],
    load: StoredLoad,
    all: readonly KnownLoad[],
    settings: AutopilotSettings,
  ): Promise<void> {
    if (isWantedOff(load, settings)) return;
    const revisable = runs.filter(
      (run) => isRunning(run) && isRevisable(run) && nameNetwork(run) === nameNetwork(load),
    );
    const held = revisable.filter((run) => isWithPins(load, run));
    if (held.length === 0) return;
    const site = siteKey(load.recording.url);
    const belief = { own: findSite(await loadNetworkMemory(), site), known: await loadNetwork(site) };
    let isSpared = false;
    for (const run of held) {
      const requests = listFromSpared(load, run);
      if (requests.length === 0) continue;
      isSpared = true;
      run.spared!.loads++;
      if (findsUdpOpen(requests, belief)) {
        // What others' loads show of the network may still outvote it: it would be kept off at once again.
        const isStillSlow = slowsH3({ cluster: await loadNetwork() });
        await this.#endRuns(
          revisable.filter((each) => !isStillSlow || !isOfNetwork(each)),
          'network-open',
        );
      }
      if (isRunning(run) && (run.spared!.loads === SPARED_LOADS || findsUdpHindered(requests, belief)))
        await this.#endSparing(runs, run);
    }
    // One at a time: each makes the load somewhat slower.
    if (isSpared) return;
    for (const run of held) run.heldLoads = (run.heldLoads ?? 0) + 1;
    const due = held.find(({ state, heldLoads }) => state === 'kept' && heldLoads! >= HELD_LOADS);
    if (due === undefined || !isTakenForHindered(belief)) return;
    if (due.spared) await this.#endSparing(runs, due);
    const origin = isRunning(due) ? chooseSpared(load, due, visitsUntil(load, all)) : null;
    if (origin !== null) await this.#spare(runs, due, origin);
  }

  async #spare(runs: readonly AutopilotRun[], run: AutopilotRun, origin: string): Promise<void> {
    run.heldLoads = 0;
    run.spared = { origin, loads: 0 };
    const spared = run.pins.filter((pin) => pin.origin === origin);
    run.pins = run.pins.filter((pin) => pin.origin !== origin);
    // First: where the worker ends meanwhile, its run does not seem to have lost a pin.
    await this.#save(runs);
    await this.#leaveSites(runs);
    // A helper that does not answer has lifted all pins already.
    await this.#pins.unpinMade(spared).catch(() => undefined);
  }

  async #endSparing(runs: readonly AutopilotRun[], run: AutopilotRun): Promise<void> {
    const { origin } = run.spared!;
    delete run.spared;
    await this.#leaveSites(runs);
    if (isOfNetwork(run) || (await this.#pins.listPins()).some((pin) => pin.origin === origin)) return;
    const pins: AutopilotRun['pins'] = [{ origin, kind: 'avoid-h3' }];
    run.pins.push(...pins);
    await this.#makePins(runs, run, pins, 'trouble');
  }

  /** Not where the user wants HTTP/3 off, whatever it costs. */
  async #doesNetworkHarm(run: AutopilotRun, load: StoredLoad, all: readonly KnownLoad[]): Promise<boolean> {
    if (!isOfNetwork(run) || !isHeld(load, EVERY_ORIGIN, 'avoid-h3')) return false;
    if (isWantedOff(run, await readAutopilotSettings())) return false;
    return isNetworkSlowed(run, load, all);
  }

  /** Ends the runs of which a pin was lifted, or was replaced or removed by others, as on the command line. */
  async #endWithPins(runs: readonly AutopilotRun[]): Promise<void> {
    const open = runs.filter(isRunning);
    if (open.length === 0) return;
    // Before that a pin may be missing from the list although it is made again.
    const { isRestored } = this.#pins;
    const states = await this.#pins.listPins();
    for (const run of open) {
      const own = run.pins.map((made) => ({
        made,
        state: states.find(({ origin }) => origin === made.origin),
      }));
      const lifted = own.find(({ state }) => state?.state === 'lifted')?.state;
      const isGone = own.some(({ made, state }) => (state ? !isMadeAs(state, made) : isRestored));
      if (lifted) await this.#endRuns([run], 'trouble', lifted.reason);
      else if (isGone) await this.#endRuns([run], isOver(run) ? 'expired' : 'you');
    }
  }

  /** Pins end with the browser; after its next start the first load of a page decides anew. */
  async #endFormerSession(runs: readonly AutopilotRun[]): Promise<void> {
    if (this.#isOfSession) return;
    this.#isOfSession = true;
    const { session } = chrome.storage;
    if ((await session.get(SESSION_KEY))[SESSION_KEY] === true) return;
    await session.set({ [SESSION_KEY]: true });
    await this.#endRuns(runs, 'closed');
  }

  async #endExpired(runs: readonly AutopilotRun[]): Promise<void> {
    await this.#endRuns(runs.filter(isOver), 'expired');
  }

  /** Ends those runs that have not ended, and removes their pins. */
  async #endRuns(runs: readonly AutopilotRun[], cause: EndCause, reason = ''): Promise<void> {
    for (const run of runs.filter(isRunning)) {
      delete run.spared;
      run.state = 'ended';
      run.end = { atMs: Date.now(), cause, reason };
      // A helper that does not answer has lifted all pins already.
      await this.#pins
        .unpinMade(run.pins, { keepsAlternatives: run.trigger === 'trial' })
        .catch(() => undefined);
    }
  }

  async #change(change: (runs: AutopilotRun[]) => Promise<void>): Promise<void> {
    const apply = async () => {
      const runs = await readRuns();
      const before = describeChangeable(runs);
      try {
        await this.#endFormerSession(runs);
        await this.#endWithPins(runs);
        await change(runs);
      } finally {
        if (describeChangeable(runs) !== before) await this.#save(runs);
      }
    };
    const done = this.#changes.run(apply);
    done.catch((error) => console.error('hopwise: autopilot:', error));
    return done;
  }

  async #save(runs: readonly AutopilotRun[]): Promise<void> {
    await saveRuns(runs, Date.now() - (await readAgeLimitMs()));
  }
}

/**
 * Whether an earlier run with one of these pins made way for a load without them, and the prediction decided for them again: what is gained is
 * too little to be surer of it, or there is nothing to compare with, as that load was over HTTP/2 where Chromium has forgotten who offers HTTP/3
 * (`resetBrokenAlternatives`). Another such load would show no more, and cost what the pins gain.
 */
function hasMadeWay({ pageUrl, networkKey, pins }: AutopilotRun, runs: readonly AutopilotRun[]): boolean {
  const isSame = (other: AutopilotRun) => other.pageUrl === pageUrl && other.networkKey === networkKey;
  const sharesPins = (other: AutopilotRun) =>
    pins.some((pin) => other.pins.some(({ origin, kind }) => origin === pin.origin && kind === pin.kind));
  return runs.some((other) => other.end?.cause === 'unsure' && isSame(other) && sharesPins(other));
}

/**
 * Load times of full later visits with the same pins up to a load, since the last change of what the page takes: what loads with more pins are
 * compared with.
 */
function listBefore(load: StoredLoad, all: readonly KnownLoad[]): number[] {
  const comparable = findComparableLoads(load, all);
  const isFull = judgeAmong(load, comparable) === 'full';
  const alike = comparable.filter((each) => hasSamePins(each, load));
  const later = visitsUntil(load, all).selectLater(isFull ? [...alike, load] : alike);
  return selectSinceChange(later).map(pltOf).slice(-MAX_BEFORE_LOADS);
}

/**
 * What is known of a load's network for its page, with what the load itself shows.
 *
 * @param isSurprising whether it was slower than those before it: the network may then no longer be as other sites' loads have shown it
 * @returns null for nothing, also where such a load was not learned
 */
async function readKnown({ recording }: StoredLoad, isSurprising: boolean): Promise<NetworkCluster | null> {
  const site = siteKey(recording.url);
  if (!isSurprising) return loadNetwork(site);
  const own = findSite(await loadNetworkMemory(), site);
  return own?.updatedAtMs === Date.parse(recording.recordedAt) ? own : null;
}

/** A text that differs if runs have changed: those that have ended do not change, they are only removed. */
const describeChangeable = (runs: readonly AutopilotRun[]): string =>
  `${runs.length} ${JSON.stringify(runs.filter(isRunning))}`;

const isAsked = ({ isOn, networkRules }: AutopilotSettings): boolean =>
  isOn || networkRules.some(({ keepsOffH3 }) => keepsOffH3);

/** Whether an earlier end has HTTP/3 stay on for now. What the user undid no longer does once they chose to keep it off. */
function isNetworkCoolingDown(
  runs: readonly AutopilotRun[],
  networkKey: string | null,
  choice: boolean | null,
): boolean {
  const counted = choice === true ? runs.filter(({ end }) => end?.cause !== 'you') : runs;
  return isCoolingDown([NETWORK_PIN], counted, Date.now(), networkKey);
}

async function saveOrForget(key: string | null, experience: Experience): Promise<void> {
  if (experience.scalesMs.size === 0) await forgetExperience(key);
  else await saveExperience(key, experience);
}

/** Runs by a rule are not judged by load times. */
const isByRule = (trigger: AutopilotRun['trigger']): boolean =>
  trigger === 'rule' || trigger === 'traffic' || trigger === 'network';

const isOfNetwork = ({ trigger }: AutopilotRun): boolean => trigger === 'network';

const minutesOf = ({ trigger }: AutopilotRun): number =>
  trigger === 'trial' ? TRIAL_MINUTES : LIFETIME_MINUTES;

const isOver = (run: AutopilotRun): boolean => Date.now() - run.madeAtMs > minutesOf(run) * 60_000;

/** A load without a summary of earlier loads is the first on its network. */
const isFirstOnNetwork = (load: StoredLoad): boolean => !load.cluster && networkOf(load) === 'internet';

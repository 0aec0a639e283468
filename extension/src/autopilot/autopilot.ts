/** Makes pins by itself where the user allows it, and removes them as soon as they do not help. */
import type { Decision } from '@hopwise/contract';
import { findComparableLoads, hasSamePins, judgeAmong, pltOf } from '../evidence/comparable-loads.ts';
import { networkOf } from '../evidence/used-network.ts';
import type { PlannedPin } from '../pins/plan-pins.ts';
import { isLocalOriginAllowed, listLocalOrigins } from '../pins/worker/local-origins.ts';
import type { PinManager } from '../pins/worker/pin-manager.ts';
import { getAllLoads, getLoad, predictionOf, type StoredLoad } from '../storage/loads.ts';
import { readNetworkKey } from '../storage/network-key.ts';
import { readSettings } from '../storage/settings.ts';
import { type Act, type EndCause, isOpen } from './act.ts';
import { readActs, saveActs } from './act-log.ts';
import {
  type AutopilotSettings,
  readAutopilotSettings,
  saveAutopilotSettings,
} from './autopilot-settings.ts';
import { chooseAct, type Option, type PlannedAct } from './choose-act.ts';
import { chooseTrial } from './choose-trial.ts';
import { isCoolingDown } from './cool-down.ts';
import {
  type Experience,
  forgetExperience,
  listExperiences,
  readExperience,
  removeExpiredExperiences,
  saveExperience,
} from './explorer-store.ts';
import { forgetLearntPages, forgetPlace, type Learnt, listLearnt } from './learnt.ts';
import { findTrouble, isOfActsPage, measureLoad } from './measure-load.ts';
import { findRule, planByRules } from './site-rules.ts';
import { hasChoice, isSuitable } from './suitable-load.ts';
import { isLeftByTraffic, planByTraffic } from './traffic-rules.ts';

const HOUR_MS = 3_600_000;
/** Networks and servers change: after this time the prediction decides anew. */
const LIFETIME_MINUTES = 24 * 60;
/** A trial whose page is not loaded again ends sooner, as its pins hold for other pages too. */
const TRIAL_MINUTES = 60;
const SESSION_KEY = 'autopilot-session';
const MAX_BEFORE_LOADS = 20;

/** The parts of the pin manager in use. */
export type Pinner = Pick<PinManager, 'pinOrigin' | 'unpinOrigin' | 'listPins' | 'onChange'>;

export class Autopilot {
  readonly #pins: Pinner;
  readonly #predict: (load: StoredLoad) => Promise<StoredLoad>;
  /** The last change of the log; the next one waits for it. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @param predict returns a load with its prediction */
  constructor(pins: Pinner, predict: (load: StoredLoad) => Promise<StoredLoad>) {
    this.#pins = pins;
    this.#predict = predict;
    void this.#change(async (acts) => {
      await this.#endFormerSession(acts);
      await removeExpiredExperiences();
    });
    pins.onChange(() => void this.#change((acts) => this.#noteTrouble(acts)));
  }

  /** Measures a load against what was done before it, then acts on it. To be called once for each stored load. */
  handleLoad(loadId: number): Promise<void> {
    return this.#change(async (acts) => {
      const settings = await readAutopilotSettings();
      const load = settings.isOn ? await getLoad(loadId) : undefined;
      if (load === undefined) return;
      await this.#endExpired(acts);
      if (isFirstOnNetwork(load)) {
        await forgetExperience(load.networkKey ?? null);
        await this.#endActs(acts, 'network');
      }
      const all = await getAllLoads();
      await this.#measure(acts, load, all);
      await this.#act(acts, load, all, settings);
    });
  }

  /** The browser went offline or is on another network, for which the predictions do not hold. */
  handleNetworkChange(): Promise<void> {
    return this.#change(async (acts) => {
      await forgetExperience(null);
      await this.#endActs(acts, 'network');
    });
  }

  /** The user is about to pin an origin: its pin is no longer the autopilot's. */
  handlePin(origin: string): Promise<void> {
    return this.#change(async (acts) => {
      for (const act of acts.filter(isOpen)) {
        const left = act.pins.filter((pin) => pin.origin !== origin);
        if (left.length > 0) act.pins = left;
        else Object.assign(act, { state: 'ended', end: { atMs: Date.now(), cause: 'you', reason: '' } });
      }
    });
  }

  /** The user removed a pin. */
  handleUnpin(origin: string): Promise<void> {
    return this.#change(async (acts) => {
      const own = acts.filter((act) => act.pins.some((pin) => pin.origin === origin));
      await this.#endActs(own, 'you');
    });
  }

  async getState(): Promise<{ settings: AutopilotSettings; acts: Act[]; learnt: Learnt[] }> {
    await this.#turn;
    return {
      settings: await readAutopilotSettings(),
      acts: (await readActs()).reverse(),
      learnt: listLearnt(await listExperiences(), await readNetworkKey()),
    };
  }

  changeSettings(change: Partial<AutopilotSettings>): Promise<void> {
    return this.#change(async (acts) => {
      const settings = { ...(await readAutopilotSettings()), ...change };
      await saveAutopilotSettings(settings);
      if (!settings.isOn) return this.#endActs(acts, 'off');
      const held = acts.filter(
        ({ trigger, pins }) => !isByRule(trigger) && pins.some(({ kind }) => kind !== 'avoid-h3'),
      );
      if (!settings.holdsProtocols) await this.#endActs(held, 'off');
      const trials = acts.filter(({ trigger }) => trigger === 'trial');
      if (!settings.explores) {
        await this.#endActs(trials, 'off');
        for (const { key } of await listExperiences()) await forgetExperience(key);
      }
      const ruled = acts.filter(({ trigger, pins }) =>
        pins.some(({ origin, kind }) => {
          const rule = findRule(origin, settings.siteRules);
          return rule === null ? trigger === 'rule' : rule !== kind;
        }),
      );
      await this.#endActs(ruled, 'rule');
      if (change.trafficRules) {
        const byTraffic = acts.filter(({ trigger }) => trigger === 'traffic');
        await this.#endActs(byTraffic, 'rule');
      }
    });
  }

  /** Removes all pins that the autopilot made. */
  undoAll(): Promise<void> {
    return this.#change((acts) => this.#endActs(acts, 'you'));
  }

  /** Forgets what loads on a network have shown. */
  eraseLearnt({ key, place }: Pick<Learnt, 'key' | 'place'>): Promise<void> {
    return this.#change(async () => {
      const experience = await readExperience(key);
      forgetPlace(experience, place);
      await saveOrForget(key, experience);
    });
  }

  /** Undoes and forgets what was done on some pages. */
  forgetPages(isForgotten: (url: string) => boolean): Promise<void> {
    return this.#change(async (acts) => {
      const forgotten = new Set(acts.filter(({ pageUrl }) => isForgotten(pageUrl)));
      await this.#endActs([...forgotten], 'you');
      for (const { key, ...experience } of await listExperiences()) {
        if (forgetLearntPages(experience, isForgotten)) await saveOrForget(key, experience);
      }
      acts.splice(0, acts.length, ...acts.filter((act) => !forgotten.has(act)));
    });
  }

  async #act(
    acts: Act[],
    load: StoredLoad,
    all: readonly StoredLoad[],
    settings: AutopilotSettings,
  ): Promise<void> {
    const { recording } = load;
    if (!isSuitable(load, await listLocalOrigins([]))) return;
    const comparable = findComparableLoads(load, all);
    const isFull = judgeAmong(load, comparable).kind === 'full';
    const before = [...comparable.filter((each) => hasSamePins(each, load)), ...(isFull ? [load] : [])];
    const beforeMs = before.map(pltOf).slice(-MAX_BEFORE_LOADS);
    const make = (planned: PlannedAct) => this.#makeAct(acts, load, beforeMs, planned);

    const ruled = planByRules(recording, settings.siteRules);
    if (await make({ trigger: 'rule', pins: ruled, predicted: null })) return;
    const byTraffic = planByTraffic(load, settings);
    if (await make({ trigger: 'traffic', pins: byTraffic, predicted: null })) return;
    const own = acts.filter((act) => isOfActsPage(load, act));
    const isChecking = own.some(({ state }) => state === 'checking');
    const wasTrial = own.some(({ trigger, lastLoadId }) => trigger === 'trial' && lastLoadId === load.id);
    if (!isFull || isChecking || findRule(recording.url, settings.siteRules) === 'leave') return;
    if (isLeftByTraffic(load, settings.trafficRules)) return;
    if (!hasChoice(load, settings) && !wasTrial) return;
    const decision = predictionOf(await this.#predict(load))?.decision;
    if (!decision) return;
    const trial = settings.explores ? await this.#planTrial(acts, load, decision, settings, wasTrial) : null;
    const planned = chooseAct(decision, settings);
    const isMade = planned !== null && (await make(planned));
    if (trial && !isMade && !own.some(isOpen)) await make(trial);
  }

  /** Learns from a load, also where nothing is tried after it. */
  async #planTrial(
    acts: readonly Act[],
    load: StoredLoad,
    decision: Decision,
    settings: AutopilotSettings,
    wasTrial: boolean,
  ): Promise<PlannedAct | null> {
    const key = load.networkKey ?? null;
    const experience = await readExperience(key);
    const reason = wasTrial ? 'explore' : 'best';
    const isFree = ({ pins }: Option) => !isCoolingDown(pins, acts, Date.now(), key);
    const trial = chooseTrial(experience, load, decision, settings, reason, isFree);
    await saveExperience(key, experience);
    return trial;
  }

  /** Makes those pins that are missing, all or none. @returns whether it made any */
  async #makeAct(
    acts: Act[],
    load: StoredLoad,
    beforeMs: number[],
    { trigger, pins, predicted }: PlannedAct,
  ): Promise<boolean> {
    const existing = (await this.#pins.listPins()).filter(({ state }) => state !== 'lifted');
    // The pin manager lists them only a moment after the worker has started.
    const own = acts.filter(isOpen).flatMap((act) => act.pins);
    const missing = pins.filter(({ origin }) => ![...existing, ...own].some((pin) => pin.origin === origin));
    // A pin of another kind is the user's own choice.
    const isOther = pins.some((pin) =>
      existing.some(({ origin, kind }) => origin === pin.origin && kind !== pin.kind),
    );
    if (missing.length === 0 || (trigger !== 'rule' && isOther)) return false;
    const networkKey = load.networkKey ?? null;
    if (isCoolingDown(missing, acts, Date.now(), networkKey)) return false;
    const act: Act = {
      id: crypto.randomUUID(),
      madeAtMs: Date.now(),
      pageUrl: load.recording.url,
      trigger,
      pins: missing,
      predicted,
      beforeMs,
      afterMs: [],
      networkKey,
      lastLoadId: load.id,
      state: isByRule(trigger) ? 'kept' : 'checking',
      end: null,
    };
    acts.push(act);
    try {
      for (const pin of missing) await this.#makePin(pin, minutesOf(act));
      return true;
    } catch (error) {
      await this.#endActs([act], 'refused', error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  async #makePin({ origin, kind }: PlannedPin, minutes: number): Promise<void> {
    const allowLocal = await isLocalOriginAllowed(origin);
    await this.#pins.pinOrigin({
      type: 'pin',
      origin,
      kind,
      minutes,
      persistent: false,
      allowLocal,
    });
  }

  async #measure(acts: readonly Act[], load: StoredLoad, all: readonly StoredLoad[]): Promise<void> {
    for (const act of acts.filter(isOpen)) {
      const trouble = findTrouble(act, load);
      if (trouble !== '') {
        await this.#endActs([act], 'trouble', trouble);
        continue;
      }
      const verdict = measureLoad(act, load, all);
      if (verdict === 'kept') act.state = 'kept';
      else if (verdict !== null) await this.#endActs([act], verdict);
    }
  }

  /** Ends the acts of which the pin manager has lifted a pin, or the user replaced one. */
  async #noteTrouble(acts: readonly Act[]): Promise<void> {
    const open = acts.filter(isOpen);
    if (open.length === 0) return;
    const states = await this.#pins.listPins();
    for (const act of open) {
      const own = states.filter(({ origin }) => act.pins.some((pin) => pin.origin === origin));
      const lifted = own.find(({ state }) => state === 'lifted');
      if (lifted) await this.#endActs([act], 'trouble', lifted.reason);
      else if (
        own.some((pin) => !act.pins.some((made) => made.origin === pin.origin && made.kind === pin.kind))
      )
        await this.#endActs([act], 'you');
    }
  }

  /** Pins end with the browser; after its next start the first load of a page decides anew. */
  async #endFormerSession(acts: readonly Act[]): Promise<void> {
    const { session } = chrome.storage;
    if ((await session.get(SESSION_KEY))[SESSION_KEY] === true) return;
    await session.set({ [SESSION_KEY]: true });
    await this.#endActs(acts, 'closed');
  }

  async #endExpired(acts: readonly Act[]): Promise<void> {
    const nowMs = Date.now();
    await this.#endActs(
      acts.filter((act) => nowMs - act.madeAtMs > minutesOf(act) * 60_000),
      'expired',
    );
  }

  /** Ends those acts that are open, and removes their pins. */
  async #endActs(acts: readonly Act[], cause: EndCause, reason = ''): Promise<void> {
    for (const act of acts.filter(isOpen)) {
      act.state = 'ended';
      act.end = { atMs: Date.now(), cause, reason };
      for (const { origin, kind } of act.pins) {
        const pin = (await this.#pins.listPins()).find((each) => each.origin === origin);
        if (pin === undefined || pin.kind !== kind || pin.state === 'lifted') continue;
        // A helper that does not answer has lifted all pins already.
        await this.#pins.unpinOrigin(origin).catch(() => undefined);
      }
    }
  }

  async #change(change: (acts: Act[]) => Promise<void>): Promise<void> {
    const apply = async () => {
      const acts = await readActs();
      const before = JSON.stringify(acts);
      try {
        await change(acts);
      } finally {
        const { ageLimitHours } = await readSettings();
        if (JSON.stringify(acts) !== before) await saveActs(acts, Date.now() - ageLimitHours * HOUR_MS);
      }
    };
    const done = this.#turn.then(apply, apply);
    this.#turn = done.catch((error) => console.error('hopwise: autopilot:', error));
    return done;
  }
}

async function saveOrForget(key: string | null, experience: Experience): Promise<void> {
  if (experience.scalesMs.size === 0) await forgetExperience(key);
  else await saveExperience(key, experience);
}

/** Acts of a rule are not judged by load times. */
const isByRule = (trigger: Act['trigger']): boolean => trigger === 'rule' || trigger === 'traffic';

const minutesOf = ({ trigger }: Act): number => (trigger === 'trial' ? TRIAL_MINUTES : LIFETIME_MINUTES);

/** A load without a summary of earlier loads is the first on its network. */
const isFirstOnNetwork = (load: StoredLoad): boolean => !load.cluster && networkOf(load) === 'internet';

import { MINUTE_MS } from '@hopwise/contract';
import { describeError } from '../../language/describe-error.ts';
import type { PinManager } from '../../pins/worker/pin-manager.ts';
import { isMadeAs } from '../../pins/worker/pin-transaction.ts';
import { readAgeLimitMs } from '../../storage/age-limit.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { type AutopilotSettings, readAutopilotSettings } from '../settings/autopilot-settings.ts';
import { isWantedOff, listLeftSites } from '../settings/network-rule.ts';
import {
  type AutopilotRun,
  type EndCause,
  isByRule,
  isOfNetwork,
  isRunning,
  type PlannedRun,
} from './autopilot-run.ts';
import { isCoolingDown } from './cool-down.ts';
import { saveRuns } from './run-log.ts';

/** Networks and servers change: after this time the prediction decides anew. */
const LIFETIME_MINUTES = 24 * 60;
/** A trial whose page is not loaded again ends sooner, as its pins hold for other pages too. */
const TRIAL_MINUTES = 60;

/** The parts of the pin manager in use. */
export type Pinner = Pick<
  PinManager,
  'pin' | 'unpinMade' | 'listPins' | 'isRestored' | 'whenRestored' | 'leaveSites' | 'onChange'
>;

/** What a run is started after. */
interface RunOccasion {
  networkKey: string | null;
  /** The load that led to it; null where the network alone did. */
  load: StoredLoad | null;
  /** See `AutopilotRun`. */
  beforeMs: number[];
}

/**
 * The runs of the log while one change is made to them, see `RunKeeper`: as a run starts, spares an origin or ends, its pins are made and
 * removed. The log is saved before pins are made or spared, and after those of a run that ends are removed: no pin is without its run where the
 * worker ends meanwhile.
 */
export class Runs {
  readonly #pins: Omit<Pinner, 'onChange'>;
  readonly #all: AutopilotRun[];
  readonly #before: string;

  /** @param all oldest first */
  constructor(pins: Omit<Pinner, 'onChange'>, all: AutopilotRun[]) {
    this.#pins = pins;
    this.#all = all;
    this.#before = describeChangeable(all);
  }

  /** Oldest first, also those that have ended. */
  get all(): readonly AutopilotRun[] {
    return this.#all;
  }

  get running(): AutopilotRun[] {
    return this.#all.filter(isRunning);
  }

  /** Whether any was added, changed or removed since they were read. */
  get isChanged(): boolean {
    return describeChangeable(this.#all) !== this.#before;
  }

  async save(): Promise<void> {
    await saveRuns(this.#all, Date.now() - (await readAgeLimitMs()));
  }

  /** Makes those pins that are missing, all or none. @returns null where it made none */
  async start(
    planned: PlannedRun,
    { networkKey, load, beforeMs }: RunOccasion,
  ): Promise<AutopilotRun | null> {
    const { trigger, pins } = planned;
    // Before that a pin of the user's may be missing from the list.
    await this.#pins.whenRestored();
    const existing = (await this.#pins.listPins()).filter(({ state }) => state !== 'lifted');
    const own = this.running.flatMap((run) => run.pins);
    const missing = pins.filter(({ origin }) => ![...existing, ...own].some((pin) => pin.origin === origin));
    // A pin of another kind is the user's own choice.
    const isOther = pins.some((pin) =>
      existing.some(({ origin, kind }) => origin === pin.origin && kind !== pin.kind),
    );
    if (missing.length === 0 || (isOther && trigger !== 'rule' && trigger !== 'network')) return null;
    if (trigger !== 'network' && isCoolingDown(missing, this.#all, Date.now(), networkKey)) return null;
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
      state: isByRule(planned) ? 'kept' : 'checking',
      end: null,
    };
    this.#all.push(run);
    return (await this.#makePins(run, missing, 'refused')) ? run : null;
  }

  /** Ends those runs that have not ended, and removes their pins. */
  async end(runs: readonly AutopilotRun[], cause: EndCause, reason = ''): Promise<void> {
    const ending = runs.filter(isRunning);
    const isAnySpared = ending.some(({ spared }) => spared !== undefined);
    for (const run of ending) {
      markEnded(run, cause, reason);
      // A helper that does not answer has lifted all pins already.
      await this.#pins
        .unpinMade(run.pins, { keepsAlternatives: run.trigger === 'trial' })
        .catch(() => undefined);
    }
    if (isAnySpared) await this.#renewLeftSites();
  }

  async endExpired(): Promise<void> {
    await this.end(this.#all.filter(isOver), 'expired');
  }

  /** Ends the runs of which a pin was lifted, or was replaced or removed by others, as on the command line. */
  async endWithoutPins(): Promise<void> {
    if (this.running.length === 0) return;
    // Before that a pin may be missing from the list although it is made again.
    const { isRestored } = this.#pins;
    const states = await this.#pins.listPins();
    for (const run of this.running) {
      const own = states.filter(({ origin }) => run.pins.some((made) => made.origin === origin));
      const lifted = own.find(({ state }) => state === 'lifted');
      const isGone = run.pins.some((made) => {
        const present = own.find(({ origin }) => origin === made.origin);
        return present ? !isMadeAs(present, made) : isRestored;
      });
      if (lifted) await this.end([run], 'trouble', lifted.reason);
      else if (isGone) await this.end([run], isOver(run) ? 'expired' : 'you');
    }
  }

  /** The pins of these origins are the user's by now: runs go on with those that they have left. */
  async handOver(origins: readonly string[]): Promise<void> {
    let isAnySpared = false;
    for (const run of this.running) {
      const left = run.pins.filter(({ origin }) => !origins.includes(origin));
      if (left.length > 0) {
        run.pins = left;
        continue;
      }
      isAnySpared ||= run.spared !== undefined;
      markEnded(run, 'you');
    }
    if (isAnySpared) await this.#renewLeftSites();
  }

  /** Lets the browser use HTTP/3 for one origin of a run, until `endSparing`. */
  async spare(run: AutopilotRun, origin: string): Promise<void> {
    run.heldLoads = 0;
    run.spared = { origin, loads: 0 };
    const spared = run.pins.filter((pin) => pin.origin === origin);
    run.pins = run.pins.filter((pin) => pin.origin !== origin);
    // First: where the worker ends meanwhile, its run does not seem to have lost a pin.
    await this.save();
    await this.leaveSites();
    // A helper that does not answer has lifted all pins already.
    await this.#pins.unpinMade(spared).catch(() => undefined);
  }

  /** Keeps HTTP/3 off for a run's spared origin again. */
  async endSparing(run: AutopilotRun): Promise<void> {
    const { origin } = run.spared!;
    delete run.spared;
    await this.leaveSites();
    if (isOfNetwork(run) || (await this.#pins.listPins()).some((pin) => pin.origin === origin)) return;
    const pins: AutopilotRun['pins'] = [{ origin, kind: 'avoid-h3' }];
    run.pins.push(...pins);
    await this.#makePins(run, pins, 'trouble');
  }

  /** Has a pin of every origin leave to the browser what the user's rules say, and the spared origins. */
  async leaveSites(): Promise<void> {
    const settings = await readAutopilotSettings();
    await this.#pins.leaveSites([...listLeftSites(settings), ...listSpared(this.#all, settings)]);
  }

  /** Has a pin of every origin hold again for what runs spared that have ended. */
  async #renewLeftSites(): Promise<void> {
    // A helper that does not answer has lifted all pins already.
    await this.leaveSites().catch(() => undefined);
  }

  /** Removes runs that have ended from the log, and forgets the spared origins of networks, which may be of any page. */
  async forget(runs: readonly AutopilotRun[]): Promise<void> {
    this.#all.splice(0, this.#all.length, ...this.#all.filter((run) => !runs.includes(run)));
    for (const run of this.#all.filter(isOfNetwork)) delete run.spared;
    await this.leaveSites();
  }

  /** Makes pins of a run for the rest of its time. Where they are refused, the run ends with the cause. @returns whether they were made */
  async #makePins(run: AutopilotRun, pins: AutopilotRun['pins'], refusal: EndCause): Promise<boolean> {
    const leftMinutes = minutesOf(run) - (Date.now() - run.madeAtMs) / MINUTE_MS;
    try {
      await this.save();
      await this.#pins.pin(pins, { minutes: Math.max(1, Math.round(leftMinutes)), persistent: false });
      return true;
    } catch (error) {
      await this.end([run], refusal, await describeError(error));
      return false;
    }
  }
}

function markEnded(run: AutopilotRun, cause: EndCause, reason = ''): void {
  delete run.spared;
  run.state = 'ended';
  run.end = { atMs: Date.now(), cause, reason };
}

const minutesOf = ({ trigger }: AutopilotRun): number =>
  trigger === 'trial' ? TRIAL_MINUTES : LIFETIME_MINUTES;

const isOver = (run: AutopilotRun): boolean => Date.now() - run.madeAtMs > minutesOf(run) * MINUTE_MS;

/** A text that differs if runs have changed: those that have ended do not change, they are only removed. */
const describeChangeable = (runs: readonly AutopilotRun[]): string =>
  `${runs.length} ${JSON.stringify(runs.filter(isRunning))}`;

/** Origins that runs spare: none on a network where the user wants HTTP/3 off. */
const listSpared = (runs: readonly AutopilotRun[], settings: AutopilotSettings): string[] =>
  runs
    .filter((run) => isRunning(run) && !isWantedOff(run, settings))
    .flatMap(({ spared }) => (spared ? [spared.origin] : []));

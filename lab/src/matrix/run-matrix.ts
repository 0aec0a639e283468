/** Makes the loads of a matrix, one at a time, and stores each at once. */
import { createHash } from 'node:crypto';
import { firstLine } from '@hopwise/contract';
import type { Assignment } from '@hopwise/pageload-emulator';
import type { LabNetwork } from '../client/networks.ts';
import { UserError } from '../command/errors.ts';
import type { GroundTruthLoad, GroundTruthOutcome, LoadProtocol } from '../ground-truth/ground-truth.ts';
import type { GroundTruthStore } from '../ground-truth/store.ts';
import { disturbedBy } from '../loads/disturbance.ts';
import type { FailedLoad, Load } from '../loads/measuring-browser.ts';
import type { Assignments } from './assignments.ts';
import type { Done, PlannedLoad } from './matrix.ts';
import type { MatrixPage } from './matrix-page.ts';
import type { MatrixProgress } from './matrix-progress.ts';
import type { LabLoad, LabLoadRequest, MatrixLab } from './page-lab.ts';

export interface MatrixRun {
  plan: PlannedLoad[];
  done: Done;
  pages: MatrixPage[];
  networks: Record<string, LabNetwork>;
  assignments: Assignments;
  store: Pick<GroundTruthStore, 'append'>;
  /** @throws UserError for errors that a further try cannot fix */
  openLab(page: MatrixPage, network: LabNetwork): Promise<MatrixLab>;
  /** No load starts after this long. */
  limitMs?: number;
  /** How long to wait for a quiet machine before repeating a disturbed load; after that it is kept as it is. */
  quietLimitMs: number;
  progress: MatrixProgress;
  signal: AbortSignal;
}

/** Result of a run. */
export interface MatrixResult {
  /** Loads made and kept. */
  kept: number;
  /** Loads of the plan that are still missing. */
  left: number;
  /** Disturbed loads that were dropped and repeated. */
  dropped: number;
  /** Failed loads that were repeated. */
  retried: number;
  /** Loads kept although they were disturbed. */
  disturbed: number;
  /** Kept loads without a load event. */
  failed: number;
  /** Median time of a cold load besides its page load time; null without loads. */
  overheadMs: number | null;
}

/** How often a failed load is repeated. */
const TRIES = 2;
/** How often a disturbed load is repeated. */
const MAX_REPEATS = 4;
/** Breakdowns of lab or browser in a row, without a load between them, after which the run stops. */
const MAX_BREAKDOWNS = 3;
/** One browser failure is answered with a fresh browser; this many in a row count as a breakdown. */
const BROWSER_FAILURES = 2;
const QUIET_WINDOW_MS = 500;
/** After the quiet limit has passed once, each further load waits only this long, until the machine is quiet again. */
const IMPATIENT_MS = 2000;

export async function runMatrix(run: MatrixRun): Promise<MatrixResult> {
  return new MatrixRunner(run).run();
}

class MatrixRunner {
  readonly #run: MatrixRun;
  readonly #result: MatrixResult = {
    kept: 0,
    left: 0,
    dropped: 0,
    retried: 0,
    disturbed: 0,
    failed: 0,
    overheadMs: null,
  };
  readonly #overheads: number[] = [];
  #lab: MatrixLab | undefined;
  #saidNotQuiet = false;
  #patienceMs: number;
  /** Time that the current load has spent waiting for a quiet machine. */
  #waitedMs = 0;

  constructor(run: MatrixRun) {
    this.#run = run;
    this.#patienceMs = run.quietLimitMs;
  }

  async run(): Promise<MatrixResult> {
    const { plan, done, pages, progress, signal, limitMs } = this.#run;
    const left = plan.filter((load) => !done.has(load));
    progress.begin(plan.length, left);
    try {
      for (const [index, planned] of left.entries()) {
        signal.throwIfAborted();
        if (done.has(planned)) {
          progress.skipped(planned);
          continue;
        }
        if (limitMs !== undefined && progress.elapsedMs > limitMs) {
          this.#result.left += left.slice(index).filter((load) => !done.has(load)).length;
          break;
        }
        const page = pages.find(({ name }) => name === planned.page) as MatrixPage;
        if (this.#lab && !this.#lab.canServe(page)) await this.#closeLab();
        if (!(await this.#make(planned, page))) this.#result.left++;
      }
    } finally {
      progress.end();
      await this.#closeLab();
    }
    this.#overheads.sort((a, b) => a - b);
    this.#result.overheadMs = this.#overheads[Math.floor(this.#overheads.length / 2)] ?? null;
    return this.#result;
  }

  /** @returns whether there is a load to keep. */
  async #make(planned: PlannedLoad, page: MatrixPage): Promise<boolean> {
    const { progress, assignments, done, store } = this.#run;
    progress.started(planned);
    const startedAt = performance.now();
    let assignment: Assignment | undefined;
    if (planned.protocol === 'assigned') {
      assignment = assignments.of(planned.page, planned.network, page.site) ?? undefined;
      if (!assignment) {
        progress.skipped(planned);
        progress.say(
          `${planned.page} on ${planned.network}: no natural load fired its load event, so there is no assignment to measure`,
        );
        return false;
      }
    }
    this.#waitedMs = 0;
    const load = await this.#measure(planned, page, assignment);
    await store.append(load);
    done.add(load);
    assignments.add(load);
    const tookMs = performance.now() - startedAt;
    progress.kept(load, tookMs);
    this.#result.kept++;
    if (load.disturbed) this.#result.disturbed++;
    if (!load.outcome.ok) this.#result.failed++;
    else if (load.repeated === 0 && load.failures === 0 && load.view === 'cold')
      this.#overheads.push(tookMs - this.#waitedMs - load.outcome.pltMs);
    return true;
  }

  async #measure(
    planned: PlannedLoad,
    page: MatrixPage,
    assignment: Assignment | undefined,
  ): Promise<GroundTruthLoad> {
    const { signal } = this.#run;
    const network = this.#run.networks[planned.network] as LabNetwork;
    const isBlocked = isUdpBlocked(planned.protocol, network);
    for (let failures = 0, repeated = 0; ; ) {
      const at = new Date().toISOString();
      const { load, disturbance, drops } = await this.#madeLoad({
        page,
        protocol: planned.protocol,
        view: planned.view,
        network: { ...network, seed: linkSeed(planned, failures) },
        ...(assignment === undefined ? {} : { assignment }),
      });
      signal.throwIfAborted();
      // Blocked UDP never answers, even on a quiet machine. Otherwise a failure may be due to a stall of the machine, so failed
      // loads are checked for disturbance too.
      const isFinal = isBlocked && !load.ok;
      const reasons = isFinal ? [] : disturbedBy(disturbance);
      if (reasons.length > 0 && repeated < MAX_REPEATS && (await this.#isQuietAgain(reasons))) {
        repeated++;
        this.#result.dropped++;
        this.#run.progress.dropped();
        continue;
      }
      if (!load.ok && !isFinal && failures + 1 < TRIES) {
        failures++;
        this.#result.retried++;
        continue;
      }
      return {
        format: 'hopwise-measured-load',
        version: 1,
        page: planned.page,
        network: planned.network,
        protocol: planned.protocol,
        ...(assignment === undefined ? {} : { assignment }),
        view: planned.view,
        seed: planned.seed,
        at,
        repeated,
        failures,
        disturbance,
        disturbed: reasons.length > 0,
        drops,
        outcome: outcomeOf(load),
      };
    }
  }

  /**
   * Makes one load, successful or failed; lab and browser are restarted when they break down.
   *
   * @throws when they keep breaking down
   */
  async #madeLoad(request: LabLoadRequest): Promise<LabLoad> {
    const { signal, progress, openLab } = this.#run;
    for (let breakdowns = 0, browserFailures = 0; ; ) {
      signal.throwIfAborted();
      let failure: unknown;
      try {
        this.#lab ??= await openLab(request.page, request.network);
        const made = await this.#lab.load(request);
        signal.throwIfAborted();
        if (made.load.ok || made.load.kind !== 'browser') return made;
        await this.#lab.discardBrowser(request.protocol);
        browserFailures++;
        if (browserFailures < BROWSER_FAILURES) continue;
        failure = new Error(made.load.reason);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof UserError) throw error;
        failure = error;
      }
      breakdowns++;
      browserFailures = 0;
      await this.#closeLab();
      if (breakdowns >= MAX_BREAKDOWNS) {
        throw new UserError(
          `${request.page.name}, ${request.protocol}: lab and browser broke down ${breakdowns} times in a row, at last: ${firstLine(failure)}: the measured loads are kept; run the same command to continue`,
        );
      }
      progress.say(`starting lab and browser again: ${firstLine(failure)}`);
    }
  }

  /** Waits for a quiet machine. @returns false when it is not quiet in time. */
  async #isQuietAgain(reasons: string[]): Promise<boolean> {
    const { progress, signal, quietLimitMs } = this.#run;
    progress.waiting(`waiting for a quiet machine: ${reasons.join(', ')}`);
    const startedAt = performance.now();
    let isQuiet = false;
    while (!isQuiet && performance.now() - startedAt < this.#patienceMs) {
      signal.throwIfAborted();
      // The next load finds out that the lab has broken down.
      const idle = await this.#lab?.idle(QUIET_WINDOW_MS).catch(() => undefined);
      isQuiet = !idle || disturbedBy(idle).length === 0;
    }
    this.#waitedMs += performance.now() - startedAt;
    if (isQuiet) {
      this.#patienceMs = quietLimitMs;
      return true;
    }
    this.#patienceMs = Math.min(quietLimitMs, IMPATIENT_MS);
    if (!this.#saidNotQuiet) {
      this.#saidNotQuiet = true;
      progress.say(
        `the machine was not quiet within ${quietLimitMs / 1000} s, so a disturbed load is kept and marked: stop other work on this machine and repeat such loads with --repeat-disturbed`,
      );
    }
    return false;
  }

  async #closeLab(): Promise<void> {
    const lab = this.#lab;
    this.#lab = undefined;
    await lab?.close();
  }
}

/**
 * Seed of the link's losses: differs by page and network, so that no unlucky draw affects all pages; the same under every
 * protocol. After a failure it changes, as the same losses might fail again.
 */
export function linkSeed(
  { page, network, seed }: Pick<PlannedLoad, 'page' | 'network' | 'seed'>,
  failures = 0,
): number {
  return createHash('sha256')
    .update(JSON.stringify([page, network, seed, ...(failures > 0 ? [failures] : [])]))
    .digest()
    .readUInt32BE();
}

/** Whether the network blocks the protocol entirely. */
export const isUdpBlocked = (protocol: LoadProtocol, { udp }: LabNetwork): boolean =>
  protocol === 'h3' && udp === 'blocked';

function outcomeOf(load: Load | FailedLoad): GroundTruthOutcome {
  if (!load.ok) return load;
  const { pltMs, fcpMs, lcpMs, proved, failed, recording } = load;
  if (recording === null) throw new TypeError('expected the load to be recorded');
  return { ok: true, pltMs, fcpMs, lcpMs, proved, failed, recording };
}

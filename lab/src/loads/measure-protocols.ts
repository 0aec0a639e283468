/** Page load times of one page under several protocols, loads of the protocols taken in turn. */

import { type Spread, spread } from '../statistics.ts';
import type { FailedLoad, Load, LoadOptions } from './measuring-browser.ts';
import type { ProtocolMode } from './protocol-args.ts';
import { takeTurns } from './turns.ts';

/** What `TruthBrowser` is to the measurement. */
export interface Loader {
  load(url: string, options: LoadOptions): Promise<Load | FailedLoad>;
}

/** Which load it is; a load that is repeated for a disturbance stays the same. */
export interface Attempt {
  /** From 0. */
  round: number;
  /** How often the load of this round has failed. */
  failures: number;
}

export interface Hooks {
  /** Before each load: drain the link, wait until the machine is quiet. */
  beforeLoad?(protocol: ProtocolMode, attempt: Attempt): Promise<void>;
  /** After each load that came to its load event: `repeat` drops it, as when the link was late, and loads again. */
  afterLoad?(protocol: ProtocolMode, load: Load): Promise<'keep' | 'repeat'>;
}

export interface Progress {
  protocol: ProtocolMode;
  /** Loads kept and loads wanted, of all protocols; those of unavailable ones are no longer wanted. */
  done: number;
  total: number;
  load: Load | FailedLoad;
}

export interface MeasureOptions {
  browsers: Partial<Record<ProtocolMode, Loader>>;
  url: string;
  loadsPerProtocol: number;
  timeoutMs: number;
  firstByteTimeoutMs?: number;
  hooks?: Hooks;
  onProgress?(progress: Progress): void;
  signal?: AbortSignal;
}

/** Loads of one protocol. Times are milliseconds. */
export interface Measured {
  medianMs: number;
  lowMs: number;
  highMs: number;
  /** What `lowMs` and `highMs` are. */
  range: Spread['range'];
  loads: Load[];
  /** Loads of which every request was proved to be on the protocol. */
  proved: number;
  /** Loads that were disturbed, dropped and taken again. */
  repeated: number;
  /** Loads that were tried and did not come to their load event. */
  failed: number;
}

export interface Unavailable {
  unavailable: string;
}

export type Measurement = Partial<Record<ProtocolMode, Measured | Unavailable>>;

/** A disturbed load is taken again this often; then the disturbed one is kept, as the machine will not be quiet. */
const MAX_REPEATS = 4;
/** Failures in a row, before any success, after which a protocol counts as unavailable. */
const FAILURES_TO_GIVE_UP = 2;

interface Series {
  protocol: ProtocolMode;
  browser: Loader;
  loads: Load[];
  repeated: number;
  failed: number;
  unavailable: string | null;
}

/**
 * `loadsPerProtocol` loads under each protocol. The protocols take turns, in an order that changes from round to round, so
 * that what drifts on the machine or the link meets all of them alike.
 *
 * @throws the signal's reason when it aborts, and what a hook throws.
 */
export async function measureProtocols(options: MeasureOptions): Promise<Measurement> {
  const { url, loadsPerProtocol, hooks = {}, signal } = options;
  if (!Number.isInteger(loadsPerProtocol) || loadsPerProtocol < 1) {
    throw new RangeError(`loadsPerProtocol ${loadsPerProtocol}: expected a whole number from 1`);
  }
  const limits: LoadOptions = {
    timeoutMs: options.timeoutMs,
    ...(options.firstByteTimeoutMs === undefined ? {} : { firstByteTimeoutMs: options.firstByteTimeoutMs }),
  };
  const all = Object.entries(options.browsers).map(
    ([protocol, browser]): Series => ({
      protocol: protocol as ProtocolMode,
      browser,
      loads: [],
      repeated: 0,
      failed: 0,
      unavailable: null,
    }),
  );
  const report = (series: Series, load: Load | FailedLoad) => {
    const wanted = all.filter(({ unavailable }) => unavailable === null);
    options.onProgress?.({
      protocol: series.protocol,
      done: wanted.reduce((sum, { loads }) => sum + loads.length, 0),
      total: wanted.length * loadsPerProtocol,
      load,
    });
  };

  for (let round = 0; round < loadsPerProtocol; round++) {
    for (const series of takeTurns(all, round)) {
      if (series.unavailable !== null) continue;
      report(series, await loadOnce(series, round, url, limits, hooks, signal));
    }
  }
  return Object.fromEntries(all.map((series) => [series.protocol, summarise(series)]));
}

/** One load that counts, or the failure that takes its place. */
async function loadOnce(
  series: Series,
  round: number,
  url: string,
  limits: LoadOptions,
  hooks: Hooks,
  signal: AbortSignal | undefined,
): Promise<Load | FailedLoad> {
  for (let repeats = 0, failures = 0; ; ) {
    signal?.throwIfAborted();
    await hooks.beforeLoad?.(series.protocol, { round, failures });
    signal?.throwIfAborted();
    const load = await series.browser.load(url, limits);
    signal?.throwIfAborted();
    if (!load.ok) {
      series.failed++;
      failures++;
      if (failures < FAILURES_TO_GIVE_UP) continue;
      if (series.loads.length === 0) series.unavailable = load.reason;
      return load;
    }
    const verdict = (await hooks.afterLoad?.(series.protocol, load)) ?? 'keep';
    if (verdict === 'repeat' && repeats < MAX_REPEATS) {
      series.repeated++;
      repeats++;
      continue;
    }
    series.loads.push(load);
    return load;
  }
}

function summarise(series: Series): Measured | Unavailable {
  if (series.unavailable !== null) return { unavailable: series.unavailable };
  const { median, low, high, range } = spread(series.loads.map(({ pltMs }) => pltMs));
  return {
    medianMs: median,
    lowMs: low,
    highMs: high,
    range,
    loads: series.loads,
    proved: series.loads.filter(({ proved }) => proved).length,
    repeated: series.repeated,
    failed: series.failed,
  };
}

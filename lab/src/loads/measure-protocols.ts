/** Page load times of one page under several protocols or assignments, whose loads take turns. */

import { type Spread, spread } from '../statistics.ts';
import type { BrowserLoadOptions, FailedLoad, Load } from './measuring-browser.ts';
import { takeTurns } from './turns.ts';

/** The part of `MeasuringBrowser` that the measurement uses. */
export interface Loader {
  load(url: string, options: BrowserLoadOptions): Promise<Load | FailedLoad>;
}

/** Identifies a load; repeating a disturbed load does not change it. */
export interface Attempt {
  /** From 0. */
  round: number;
  /** Failures of this round's load so far. */
  failures: number;
}

interface Hooks<K extends string> {
  /** Before each load: drain the link, wait until the machine is quiet. */
  beforeLoad?(protocol: K, attempt: Attempt): Promise<void>;
  /** After each load that fired its load event: `repeat` drops it (as when the link was late) and loads again. */
  afterLoad?(protocol: K, load: Load): Promise<'keep' | 'repeat'>;
}

interface Progress<K extends string> {
  protocol: K;
  /** Loads kept, and loads wanted without those that will not be made any more, over all protocols. */
  done: number;
  total: number;
  load: Load | FailedLoad;
}

export interface MeasureOptions<K extends string> {
  /** By protocol, or by whatever else the loads are to be distinguished by. */
  browsers: Partial<Record<K, Loader>>;
  url: string;
  loadsPerProtocol: number;
  timeoutMs: number;
  firstByteTimeoutMs?: number;
  hooks?: Hooks<K>;
  /** After each kept load: whether this protocol needs no more of them, given the load times of all in milliseconds. */
  isEnough?(protocol: K, timesMs: Partial<Record<K, readonly number[]>>): boolean;
  onProgress?(progress: Progress<K>): void;
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
  /** Loads in which every request was proved to be on the protocol. */
  proved: number;
  /** Disturbed loads that were dropped and repeated. */
  repeated: number;
  /** Tries without a load event. */
  failed: number;
}

interface Unavailable {
  unavailable: string;
}

export type Measurement<K extends string> = Partial<Record<K, Measured | Unavailable>>;

/** How often a disturbed load is repeated before it is kept. */
const MAX_REPEATS = 4;
/** Failures in a row, before any success, after which a protocol counts as unavailable. */
const FAILURES_TO_GIVE_UP = 2;

interface Series<K extends string> {
  protocol: K;
  browser: Loader;
  loads: Load[];
  repeated: number;
  failed: number;
  unavailable: string | null;
  /** No more loads are made. */
  ended: boolean;
}

/**
 * `loadsPerProtocol` loads under each protocol. The protocols take turns, in an order that changes from round to round, so that
 * drift of the machine or the link affects all of them alike.
 *
 * @throws the signal's reason when it aborts, and what a hook throws.
 */
export async function measureProtocols<K extends string>(
  options: MeasureOptions<K>,
): Promise<Measurement<K>> {
  const { url, loadsPerProtocol, hooks = {}, isEnough, signal } = options;
  if (!Number.isInteger(loadsPerProtocol) || loadsPerProtocol < 1) {
    throw new RangeError(`loadsPerProtocol ${loadsPerProtocol}: expected a whole number from 1`);
  }
  const limits: BrowserLoadOptions = {
    timeoutMs: options.timeoutMs,
    ...(options.firstByteTimeoutMs === undefined ? {} : { firstByteTimeoutMs: options.firstByteTimeoutMs }),
  };
  const all = (Object.entries(options.browsers) as [K, Loader][]).map(
    ([protocol, browser]): Series<K> => ({
      protocol,
      browser,
      loads: [],
      repeated: 0,
      failed: 0,
      unavailable: null,
      ended: false,
    }),
  );
  const report = (series: Series<K>, load: Load | FailedLoad) => {
    const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
    options.onProgress?.({
      protocol: series.protocol,
      done: sum(all.map(({ loads }) => loads.length)),
      total: sum(all.map(({ loads, ended }) => (ended ? loads.length : loadsPerProtocol))),
      load,
    });
  };
  const times = () => {
    const byProtocol: Partial<Record<K, readonly number[]>> = {};
    for (const { protocol, loads } of all) byProtocol[protocol] = loads.map(({ pltMs }) => pltMs);
    return byProtocol;
  };

  for (let round = 0; round < loadsPerProtocol; round++) {
    for (const series of takeTurns(all, round)) {
      if (series.ended) continue;
      const load = await loadOnce(series, round, url, limits, hooks, signal);
      series.ended =
        series.unavailable !== null || (load.ok && isEnough?.(series.protocol, times()) === true);
      report(series, load);
    }
  }
  return Object.fromEntries(all.map((series) => [series.protocol, summarise(series)])) as Measurement<K>;
}

/** One load that counts, or its failure. */
async function loadOnce<K extends string>(
  series: Series<K>,
  round: number,
  url: string,
  limits: BrowserLoadOptions,
  hooks: Hooks<K>,
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

function summarise(series: Series<string>): Measured | Unavailable {
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

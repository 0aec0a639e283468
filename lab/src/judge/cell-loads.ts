/**
 * Selects the measured loads that judge, by the same rules for the summary of a folder and for the accuracy bench.
 *
 * A load counts when it was undisturbed, proved to be on its protocol, and no URL of the lab's hosts failed in it except those
 * that fail in most loads of the page on the network. A load without a load event in time counts as infinitely long; but a
 * protocol's only load may fail at random and is then left out, except HTTP/3's where UDP is blocked. Protocols are compared
 * over the seeds that all of them have, as loads of one seed meet the same losses.
 */

import { median } from '@hopwise/contract';
import { type Assignment, PROTOCOLS } from '@hopwise/pageload-emulator';
import type {
  GroundTruthLoad,
  GroundTruthMatrix,
  GroundTruthOutcome,
  LoadProtocol,
  View,
} from '../ground-truth/ground-truth.ts';
import type { ProtocolMode } from '../loads/protocol-args.ts';

/** The fields of a `GroundTruthLoad` that decide how it judges. */
export interface LoadFacts
  extends Pick<
    GroundTruthLoad,
    'page' | 'network' | 'protocol' | 'assignment' | 'view' | 'seed' | 'disturbed'
  > {
  outcome: Pick<Loaded, 'ok' | 'pltMs' | 'proved' | 'failed'> | Exclude<GroundTruthOutcome, Loaded>;
}

type Loaded = Extract<GroundTruthOutcome, { ok: true }>;

/** Page load times in milliseconds by the seed of their losses; infinite without a load event in time. */
export type BySeed = ReadonlyMap<number, number>;

/** Reasons why loads do not judge. */
export interface LeftOut {
  /** Kept by the lab although other work on the machine disturbed them. */
  disturbed: number;
  /** The browser itself failed. */
  browser: number;
  /** Not every request was proved to be on the protocol. */
  unproved: number;
  /** A URL failed that does not fail in most loads of the page on the network. */
  incomplete: number;
  /** Replaced by a later load of the same seed. */
  replaced: number;
  /** The only load of its protocol, without a load event. */
  unconfirmed: number;
  /** Its seed lacks a load of another protocol of the cell. */
  unpaired: number;
}

export type Reason = keyof LeftOut;

export const REASONS: Record<Reason, string> = {
  disturbed: 'disturbed by other work on the machine',
  browser: 'failed by the browser itself',
  unproved: 'not proved to be on their protocol',
  incomplete: 'with a failed request that does not fail in most loads',
  replaced: 'made again since',
  unconfirmed: 'that failed as the only ones of their protocol',
  unpaired: 'of a seed that another protocol lacks',
};

const noneLeftOut = (): LeftOut => ({
  disturbed: 0,
  browser: 0,
  unproved: 0,
  incomplete: 0,
  replaced: 0,
  unconfirmed: 0,
  unpaired: 0,
});

/** Why a tried protocol has no times. The first two are findings, the others say nothing about the protocol. */
export interface Missing {
  kind: 'unreachable' | 'timeout' | Reason;
  reason: string;
}

/** Loads under one assignment of protocols to origins. */
interface AssignedLoads {
  assignment: Assignment;
  pltMs: BySeed;
}

/** The judging loads of a page on a network in one view. */
export interface CellLoads<T extends LoadFacts = LoadFacts> {
  page: string;
  network: string;
  view: View;
  /** Seeds that all forced protocols that load the page have, ascending; all seeds without such a protocol. */
  seeds: readonly number[];
  /** By protocol that loads the page: forced ones at all of `seeds`, natural at those that it has. */
  pltMs: ReadonlyMap<ProtocolMode, BySeed>;
  /** Assignments at those of `seeds` that they have. An assignment that does not load the page has an infinite median. */
  assigned: readonly AssignedLoads[];
  missing: ReadonlyMap<LoadProtocol, Missing>;
  /** All valid loads, including those whose seed other protocols lack, in the order they were made. */
  sound: readonly T[];
}

interface JudgedLoads<T extends LoadFacts = LoadFacts> {
  /** In the order of their first loads. */
  cells: CellLoads<T>[];
  /** Judging loads: those in `pltMs`, in `assigned`, and those that show that a protocol does not load the page. */
  judging: number;
  leftOut: LeftOut;
}

/** Whether a protocol was tried and never loads the page. */
export function doesNotLoad({ missing }: CellLoads, protocol: LoadProtocol): boolean {
  const kind = missing.get(protocol)?.kind;
  return kind === 'unreachable' || kind === 'timeout';
}

/** Groups loads by page, network and view. */
export function judgeLoads<T extends LoadFacts>(
  loads: Iterable<T>,
  networks: GroundTruthMatrix['networks'],
): JudgedLoads<T> {
  const byCell = new Map<string, T[]>();
  for (const load of loads) {
    const key = JSON.stringify([load.page, load.network, load.view]);
    const own = byCell.get(key);
    if (own) own.push(load);
    else byCell.set(key, [load]);
  }
  const leftOut = noneLeftOut();
  const cells = [...byCell.values()].map((own) =>
    cellOf(own, networks[own[0]!.network]?.network.udp === 'blocked', leftOut),
  );
  const total = [...byCell.values()].reduce((sum, own) => sum + own.length, 0);
  const out = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
  return { cells, judging: total - out, leftOut };
}

/** Loads of one protocol, or of one assignment. */
interface Series<T> {
  protocol: LoadProtocol;
  assignment: Assignment;
  /** The last valid load of each seed. */
  bySeed: Map<number, T>;
  out: Partial<Record<Reason, number>>;
}

function cellOf<T extends LoadFacts>(
  loads: readonly T[],
  udpBlocked: boolean,
  leftOut: LeftOut,
): CellLoads<T> {
  const isUsual = usualFailures(loads);
  const series = new Map<string, Series<T>>();
  const leaveOut = (own: Series<T>, reason: Reason) => {
    leftOut[reason]++;
    own.out[reason] = (own.out[reason] ?? 0) + 1;
  };
  for (const load of loads) {
    const { protocol, assignment = {} } = load;
    const key = protocol === 'assigned' ? JSON.stringify(Object.entries(assignment).sort()) : protocol;
    const own: Series<T> = series.get(key) ?? { protocol, assignment, bySeed: new Map(), out: {} };
    series.set(key, own);
    const reason = unsoundness(load) ?? (hasOnly(load, isUsual) ? null : 'incomplete');
    if (reason !== null) {
      leaveOut(own, reason);
      continue;
    }
    if (own.bySeed.has(load.seed)) leaveOut(own, 'replaced');
    // Deleted first, so that the order is that in which the loads were made.
    own.bySeed.delete(load.seed);
    own.bySeed.set(load.seed, load);
  }
  for (const own of series.values()) {
    const [only] = own.bySeed.values();
    if (only === undefined || only.outcome.ok || own.bySeed.size > 1) continue;
    if (own.protocol === 'h3' && udpBlocked) continue;
    own.bySeed.clear();
    leaveOut(own, 'unconfirmed');
  }
  const { page, network, view } = loads[0] as T;
  const kept = new Set([...series.values()].flatMap(({ bySeed }) => [...bySeed.values()]));
  const pltMs = new Map<ProtocolMode, BySeed>();
  const missing = new Map<LoadProtocol, Missing>();
  const loading: Series<T>[] = [];
  for (const own of series.values()) {
    const reason = whyMissing(own);
    if (reason === null) loading.push(own);
    else missing.set(own.protocol, reason);
  }
  const forced = loading.filter(({ protocol }) => PROTOCOLS.some((each) => each === protocol));
  const seeds = commonSeeds(forced.length > 0 ? forced : loading, forced.length > 0);
  const assigned: AssignedLoads[] = [];
  for (const own of loading) {
    const times = new Map<number, number>();
    for (const seed of seeds) {
      const load = own.bySeed.get(seed);
      if (load !== undefined) times.set(seed, timeOf(load));
    }
    for (let unpaired = own.bySeed.size - times.size; unpaired > 0; unpaired--) leaveOut(own, 'unpaired');
    if (times.size === 0) missing.set(own.protocol, leftOutReason(own.out));
    else if (own.protocol === 'assigned') assigned.push({ assignment: own.assignment, pltMs: times });
    else if (isLoading(times.values())) pltMs.set(own.protocol, times);
    else missing.set(own.protocol, failureOf(own));
  }
  // One assignment may have times while another has none.
  if (assigned.length > 0) missing.delete('assigned');
  return { page, network, view, seeds, pltMs, assigned, missing, sound: loads.filter((l) => kept.has(l)) };
}

function unsoundness({ disturbed, outcome }: LoadFacts): Reason | null {
  if (!outcome.ok && outcome.kind === 'browser') return 'browser';
  if (disturbed) return 'disturbed';
  return outcome.ok && !outcome.proved ? 'unproved' : null;
}

/** URLs that fail in most of the loads that fired their load event. */
function usualFailures(loads: readonly LoadFacts[]): (url: string) => boolean {
  const counts = new Map<string, number>();
  let sound = 0;
  for (const load of loads) {
    if (!load.outcome.ok || unsoundness(load) !== null) continue;
    sound++;
    for (const url of new Set(load.outcome.failed.map(({ url }) => url))) {
      counts.set(url, (counts.get(url) ?? 0) + 1);
    }
  }
  return (url) => 2 * (counts.get(url) ?? 0) > sound;
}

const hasOnly = ({ outcome }: LoadFacts, isUsual: (url: string) => boolean): boolean =>
  !outcome.ok || outcome.failed.every(({ url, reason }) => isForeign(reason) || isUsual(url));

/** A request to a host that the lab lacks: it fails without sending a packet, so it says nothing about a protocol. */
const isForeign = (reason: string): boolean => reason.includes('ERR_NAME_NOT_RESOLVED');

const timeOf = ({ outcome }: LoadFacts): number => (outcome.ok ? outcome.pltMs : Number.POSITIVE_INFINITY);

/** Null where the series has times. */
function whyMissing(own: Series<LoadFacts>): Missing | null {
  const { protocol, bySeed, out } = own;
  if (bySeed.size === 0) return leftOutReason(out);
  if (protocol === 'assigned' || isLoading([...bySeed.values()].map(timeOf))) return null;
  return failureOf(own);
}

const isLoading = (times: Iterable<number>): boolean => Number.isFinite(median([...times]));

/** For a series with a failed load. */
function failureOf({ bySeed }: Series<LoadFacts>): Missing {
  const failures = [...bySeed.values()].flatMap(({ outcome }) => (outcome.ok ? [] : outcome));
  const { kind, reason } = failures.find(({ kind }) => kind === 'unreachable') ?? failures[0]!;
  return { kind, reason };
}

/** The reason that left out most loads. */
function leftOutReason(out: Partial<Record<Reason, number>>): Missing {
  const [kind] = (Object.entries(out) as [Reason, number][]).reduce((most, each) =>
    each[1] > most[1] ? each : most,
  );
  return { kind, reason: `all loads: ${REASONS[kind]}` };
}

function commonSeeds(series: readonly Series<LoadFacts>[], common: boolean): number[] {
  const seeds = new Set(series.flatMap(({ bySeed }) => [...bySeed.keys()]));
  return [...seeds]
    .filter((seed) => !common || series.every(({ bySeed }) => bySeed.has(seed)))
    .sort((a, b) => a - b);
}

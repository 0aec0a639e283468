import type { ClusterRecord, Tally } from './cluster-record.ts';

/** How far retransmitted segments and connections with a timeout may rise above those of the usual window: what TCP WISE's online test shows. */
const MAX_RISE = { retransmitted: 0.006, timedOut: 0.003 } as const;
/** The fewest connections on either side that show a rise. */
const MIN_CONNECTIONS = 4;
/** By how many standard errors the rise must exceed its limit. */
const STANDARD_ERRORS = 2;
/** The connections after which a window that did harm may be tried again. */
const BARRED_CONNECTIONS = 1000;
/** The first of them, for which the usual window is used. */
const USUAL_CONNECTIONS = 20;

/**
 * Bars the windows that lose too much: the cluster goes back to the usual one, and then to those below the one that did harm.
 *
 * @returns the window that is barred from now on; null where none is
 */
export function barHarmful(record: ClusterRecord, usual: number): number | null {
  const base = record.tallies[usual];
  if (base === undefined || base.connections < MIN_CONNECTIONS) return null;
  const harmful = Object.entries(record.tallies)
    .filter(([window, tally]) => Number(window) > usual && doesHarm(tally, base))
    .map(([window]) => Number(window));
  const from = Math.min(...harmful);
  if (harmful.length === 0 || (record.barred !== null && record.barred.from <= from)) return null;
  record.barred = { from, connections: BARRED_CONNECTIONS };
  // When it is tried again, it has not done harm before.
  record.tallies = Object.fromEntries(
    Object.entries(record.tallies).filter(([window]) => Number(window) < from),
  );
  return from;
}

function doesHarm(tally: Tally, base: Tally): boolean {
  if (tally.connections < MIN_CONNECTIONS) return false;
  const isAbove = (rise: number, variance: number, limit: number): boolean =>
    rise - STANDARD_ERRORS * Math.sqrt(variance) > limit;
  const share = (one: Tally) => one.retransmitted / one.connections;
  const timeouts = (one: Tally) => one.timedOut / one.connections;
  const shareVariance = (one: Tally) =>
    Math.max(0, one.squares / one.connections - share(one) ** 2) / one.connections;
  const timeoutVariance = (one: Tally) => (timeouts(one) * (1 - timeouts(one))) / one.connections;
  return (
    isAbove(share(tally) - share(base), shareVariance(tally) + shareVariance(base), MAX_RISE.retransmitted) ||
    isAbove(
      timeouts(tally) - timeouts(base),
      timeoutVariance(tally) + timeoutVariance(base),
      MAX_RISE.timedOut,
    )
  );
}

/** The windows that may be used now. @param windows the usual one first */
export function permittedWindows({ barred }: ClusterRecord, windows: readonly number[]): readonly number[] {
  if (barred === null) return windows;
  if (barred.connections > BARRED_CONNECTIONS - USUAL_CONNECTIONS) return windows.slice(0, 1);
  return windows.filter((window) => window < barred.from || window === windows[0]);
}

/** Counts a connection of a cluster with a barred window. */
export function countBarred(record: ClusterRecord): void {
  if (record.barred === null) return;
  record.barred.connections--;
  if (record.barred.connections <= 0) record.barred = null;
}

import type { FetchActivity, PageGraph } from '../graph/page-graph.ts';
import type { Holdup, LoadTrace } from './load-trace.ts';

/** Shorter waits are the network's ordinary jitter. */
const MIN_WAIT_MS = 5;

/** Responses that waited behind another one's lost packet. */
export interface WorstHoldup {
  origin: string;
  /** The fetch whose packet was missing. */
  of: FetchActivity;
  held: FetchActivity[];
  longestMs: number;
}

/**
 * Finds the lost packet that cost the most time: the sum of what all other responses waited for it.
 *
 * @param origin considers only this origin's connections
 * @returns null when no response waited noticeably
 */
export function worstHoldup(graph: PageGraph, trace: LoadTrace, origin?: string): WorstHoldup | null {
  let worst: WorstHoldup | null = null;
  let worstTotalMs = 0;
  for (const holdup of trace.holdups) {
    const found = holdupOf(graph, holdup);
    if (origin !== undefined && found.origin !== origin) continue;
    const totalMs = found.held.reduce((sum, { id }) => sum + holdup.heldMs.get(id)!, 0);
    if (found.longestMs < MIN_WAIT_MS || totalMs <= worstTotalMs) continue;
    worst = found;
    worstTotalMs = totalMs;
  }
  return worst;
}

function holdupOf(graph: PageGraph, { of, heldMs }: Holdup): WorstHoldup {
  const fetch = graph.activities[of] as FetchActivity;
  const others = [...heldMs].filter(([id]) => id !== of);
  return {
    origin: graph.origins[fetch.origin]!,
    of: fetch,
    held: others.map(([id]) => graph.activities[id] as FetchActivity),
    longestMs: Math.max(0, ...others.map(([, waitedMs]) => waitedMs)),
  };
}

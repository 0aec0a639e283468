import type { Protocol } from '@hopwise/contract';
import type { FetchActivity, PageGraph } from '../graph/page-graph.ts';
import type { Holdup, LoadTrace } from './load-trace.ts';
import { count, hostOf, ms, NAME } from './words.ts';

/** A file that fits into what a connection sends at first. */
const SMALL_BYTES = 14_600;
/** Shorter waits are the network's ordinary jitter. */
const LEAST_MS = 5;

/** Responses that waited behind another one's lost packet. */
export interface WorstHoldup {
  origin: string;
  /** The fetch whose packet was missing. */
  of: FetchActivity;
  held: FetchActivity[];
  longestMs: number;
}

/**
 * The lost packet that cost most: by the time that other responses waited for it, all together.
 *
 * @param origin only of this origin's connections
 */
export function worstHoldup(graph: PageGraph, trace: LoadTrace, origin?: string): WorstHoldup | null {
  let worst: WorstHoldup | null = null;
  let most = 0;
  for (const holdup of trace.holdups) {
    const found = holdupOf(graph, holdup);
    if (origin !== undefined && found.origin !== origin) continue;
    const total = found.held.reduce((sum, { id }) => sum + holdup.heldMs.get(id)!, 0);
    if (found.longestMs < LEAST_MS || total <= most) continue;
    worst = found;
    most = total;
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

/** "14 small files from cdn.example wait behind one lost packet on HTTP/2, up to 180 ms". */
export function holdupSentence({ origin, held, longestMs }: WorstHoldup, protocol: Protocol): string {
  const small = held.every(({ responseBytes }) => responseBytes <= SMALL_BYTES) ? 'small ' : '';
  const wait = held.length === 1 ? 'waits' : 'wait';
  return `${count(held.length, `${small}file`)} from ${hostOf(origin)} ${wait} behind one lost packet on ${NAME[protocol]}, up to ${ms(longestMs)}.`;
}

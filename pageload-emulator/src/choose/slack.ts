import type { Emulated } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';

/** Origins with less slack than this share of the load time can move it. */
export const SLACK_SHARE = 0.25;

/** Fields needed to compute origin slack. */
export type SlackInput = Pick<Emulated, 'entries' | 'pltMs'>;

/**
 * Computes each origin's slack: the smallest time by which one of its requests may end later without moving the load event, as
 * a share of the load time.
 *
 * @param load emulated with a waterfall
 * @returns in order of `graph.origins`; 1 for an origin without requests
 */
export function originSlack(graph: PageGraph, load: SlackInput): number[] {
  const { entries, pltMs } = load;
  const entryOf = new Map(entries.map((entry) => [entry.requestId, entry]));
  const latestEndMs = new Float64Array(graph.activities.length).fill(Number.POSITIVE_INFINITY);
  const slack = graph.origins.map(() => 1);
  for (let id = graph.activities.length - 1; id >= 0; id--) {
    const activity = graph.activities[id]!;
    if (activity.blocksLoad) latestEndMs[id] = Math.min(latestEndMs[id]!, pltMs);
    const entry = activity.kind === 'fetch' ? entryOf.get(activity.requestId) : undefined;
    const lengthMs =
      activity.kind === 'compute' ? activity.durationMs : (entry?.endMs ?? 0) - (entry?.startMs ?? 0);
    const delayMs = activity.kind === 'fetch' ? activity.delayMs : 0;
    for (const { activity: parent, fraction } of activity.after) {
      // A parent that is needed in part may end after this activity begins.
      const rest = fraction < 1 ? entryLength(graph, parent, entryOf) * (1 - fraction) : 0;
      latestEndMs[parent] = Math.min(latestEndMs[parent]!, latestEndMs[id]! - lengthMs - delayMs + rest);
    }
    if (activity.kind === 'fetch' && entry && Number.isFinite(latestEndMs[id]!)) {
      const share = Math.max(0, latestEndMs[id]! - entry.endMs) / pltMs;
      slack[activity.origin] = Math.min(slack[activity.origin]!, share);
    }
  }
  return slack;
}

function entryLength(
  graph: PageGraph,
  id: number,
  entryOf: ReadonlyMap<number, { firstByteMs: number; endMs: number }>,
): number {
  const activity = graph.activities[id]!;
  const entry = activity.kind === 'fetch' ? entryOf.get(activity.requestId) : undefined;
  return entry ? entry.endMs - entry.firstByteMs : 0;
}

import type { PageGraph } from '../graph/page-graph.ts';
import { atHead, documentOf, type ServedPage } from './document.ts';

/** An origin to which the browser could connect sooner than it does by itself. */
interface LateOrigin {
  origin: string;
  /** Whether its first request goes without credentials, on a connection of its own (`crossorigin`). */
  anonymous: boolean;
}

/** A connection that begins by less sooner gains nothing to speak of. Assumed. */
const MIN_HEAD_START_MS = 20;
/** Each connection costs handshakes that compete with the page's first files. Assumed. */
const MAX_ORIGINS = 6;

/** Other origins than the document's whose first request left well after the document's head had arrived; the earliest first. */
export function lateOrigins({ recording, graph }: ServedPage): LateOrigin[] {
  const document = documentOf(graph);
  const { phases, startMs } = recording.requests[document.requestId]!;
  const headMs = (phases.responseStartMs ?? startMs) + atHead(graph).delayMs;
  const first = new Map<number, { sentMs: number; pool: number }>();
  for (const activity of graph.activities) {
    if (activity.kind !== 'fetch' || activity.origin === document.origin) continue;
    const request = recording.requests[activity.requestId]!;
    const sentMs = request.phases.connectStartMs ?? request.phases.requestStartMs ?? request.startMs;
    const known = first.get(activity.origin);
    if (known === undefined || sentMs < known.sentMs) {
      first.set(activity.origin, { sentMs, pool: activity.pool ?? 0 });
    }
  }
  return [...first]
    .filter(([, { sentMs }]) => sentMs - headMs >= MIN_HEAD_START_MS)
    .sort(([, a], [, b]) => a.sentMs - b.sentMs)
    .slice(0, MAX_ORIGINS)
    .map(([origin, { pool }]) => ({ origin: graph.origins[origin]!, anonymous: pool !== 0 }));
}

/** The page with connections to some origins announced in its head (`rel=preconnect`). */
export function withPreconnects(graph: PageGraph, origins: readonly LateOrigin[]): PageGraph {
  const { dependency, delayMs } = atHead(graph);
  return {
    ...graph,
    preconnects: {
      activity: dependency.activity,
      delayMs,
      connections: origins.map(({ origin, anonymous }) => ({
        origin: graph.origins.indexOf(origin),
        pool: anonymous ? 1 : 0,
      })),
    },
  };
}

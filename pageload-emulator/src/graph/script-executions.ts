import type { RecordedRequest } from '@hopwise/contract';
import type { ExecutionOrder } from './execution-order.ts';
import type { Head } from './head.ts';
import type { Parent } from './request-parents.ts';

/** A script whose first request comes later than this after its arrival waited for a timer, not for the main thread. */
const MAX_EXECUTION_MS = 300;
/** Shorter gaps are the browser's own bookkeeping. */
const MIN_EXECUTION_MS = 1;

/** Work on the main thread with a response. */
export interface Execution {
  request: RecordedRequest;
  /** Time on the main thread, milliseconds. */
  durationMs: number;
  /** Milliseconds after navigationStart. */
  endMs: number;
}

/**
 * Finds executions of scripts: from a script's arrival to its first request. They share one thread, so each of several
 * overlapping gaps gets the time that those before it left. The parser's time for the head counts as the document's.
 *
 * @param kept requests in the graph, in order of start
 * @returns by `RecordedRequest.id` of the script or document
 */
export function findExecutions(
  kept: readonly RecordedRequest[],
  parents: ReadonlyMap<number, Parent>,
  order: ExecutionOrder,
  document: RecordedRequest,
  head: Head | null,
): Map<number, Execution> {
  const gaps: { request: RecordedRequest; startMs: number; endMs: number }[] = [];
  const seen = new Set<number>();
  for (const { id, startMs } of kept) {
    const script = parents.get(id)?.request;
    if (script?.type !== 'script' || seen.has(script.id)) continue;
    seen.add(script.id);
    const waitedFor = [script, ...order.before(script, startMs)];
    gaps.push({ request: script, startMs: lastEndMs(waitedFor), endMs: startMs });
  }
  if (head !== null) {
    gaps.push({ request: document, startMs: lastEndMs(head.blockers), endMs: head.endMs });
  }
  const ordered = gaps
    .filter(({ startMs, endMs }) => {
      const gapMs = endMs - startMs;
      return gapMs >= MIN_EXECUTION_MS && gapMs <= MAX_EXECUTION_MS;
    })
    .sort((a, b) => a.endMs - b.endMs || a.request.id - b.request.id);
  const executions = new Map<number, Execution>();
  let busyUntilMs = 0;
  for (const { request, startMs, endMs } of ordered) {
    const durationMs = Math.max(0, endMs - Math.max(startMs, busyUntilMs));
    executions.set(request.id, { request, durationMs, endMs });
    busyUntilMs = Math.max(busyUntilMs, endMs);
  }
  return executions;
}

function lastEndMs(requests: readonly RecordedRequest[]): number {
  return Math.max(...requests.map(({ endMs }) => endMs));
}

import type { RecordedRequest } from '@hopwise/contract';
import { type Hold, LOW_PRIORITY_LIMIT } from '../client/low-priority-gate.ts';

/** The part of a load during which Chromium's parser is in the document's head. */
export interface Head {
  /** When it had ended in the recording. */
  endMs: number;
  /** Resources that the parser waited for in the head. */
  blockers: RecordedRequest[];
  /** How each low-priority request, by `RecordedRequest.id`, is held back meanwhile. */
  holds: ReadonlyMap<number, Hold>;
}

/**
 * Finds the end of the document's head. Until then Chromium keeps at most two low-priority requests in flight, whatever their
 * origins (Blink's `ResourceLoadScheduler`, tight mode), so the first time at which there were more shows it.
 *
 * @param requests those that the load event could wait for, in order of start
 * @returns null when the recording shows no such time: no blocking resource, or nothing held back
 */
export function findHead(document: RecordedRequest, requests: readonly RecordedRequest[]): Head | null {
  const found = requests.filter((request) => isFoundIn(document, request));
  const blocking = found.filter((request) => request.renderBlocking === true);
  if (blocking.length === 0) return null;
  const lastSentMs = Math.max(...blocking.map(sentAt));
  const low = found
    .filter(
      (request) =>
        // Images never block, even when the recorder does not say so.
        request.type === 'image' ||
        // A script sent among the blocking resources has a higher priority than the others.
        (request.type === 'script' && request.renderBlocking === false && sentAt(request) > lastSentMs),
    )
    .sort((a, b) => sentAt(a) - sentAt(b));
  const endMs = endOfHead(low);
  if (endMs === null) return null;
  // Imports of a stylesheet block as the stylesheet does.
  const blockers = requests.filter(
    (request) =>
      request.renderBlocking === true &&
      request.endMs <= endMs &&
      (request.initiator.kind === 'style' || isFoundIn(document, request)),
  );
  if (blockers.length === 0) return null;
  const holds = low.map((request) => [request.id, sentAt(request) < endMs ? 'turns' : 'head'] as const);
  return { endMs, blockers, holds: new Map(holds) };
}

/** The first time at which more requests than the limit were in flight; null when there is none. */
function endOfHead(low: readonly RecordedRequest[]): number | null {
  let underway: RecordedRequest[] = [];
  for (const request of low) {
    const atMs = sentAt(request);
    underway = underway.filter(({ endMs }) => endMs > atMs);
    if (underway.length >= LOW_PRIORITY_LIMIT) return atMs;
    underway.push(request);
  }
  return null;
}

function isFoundIn(document: RecordedRequest, { initiator }: RecordedRequest): boolean {
  return initiator.kind === 'parser' && initiator.requestId === document.id;
}

/** When the browser dispatched a request: began its connection, or else sent it. */
function sentAt({ phases, startMs }: RecordedRequest): number {
  return phases.connectStartMs ?? phases.requestStartMs ?? startMs;
}

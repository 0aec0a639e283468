import type { RecordedRequest } from '@hopwise/contract';
import { type Hold, LOW_PRIORITY_LIMIT } from '../client/low-priority-gate.ts';

/** The part of a load in which Chromium's parser is in the document's head. */
export interface Head {
  /** When it had ended in the recording. */
  endMs: number;
  /** What the parser waited for in it. */
  blockers: RecordedRequest[];
  /** How each request (`RecordedRequest.id`) of low priority is held back meanwhile. */
  holds: ReadonlyMap<number, Hold>;
}

/**
 * Finds the end of the document's head: until then Chromium keeps two requests of low priority under
 * way, whatever their origins (Blink's `ResourceLoadScheduler`, tight mode). It is told by the first
 * moment at which there were more.
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
        // Images never block, whether the recorder says so or nothing.
        request.type === 'image' ||
        // A script that went with the blocking ones has a higher priority than the others.
        (request.type === 'script' && request.renderBlocking === false && sentAt(request) > lastSentMs),
    )
    .sort((a, b) => sentAt(a) - sentAt(b));
  const endMs = endOfHead(low);
  if (endMs === null) return null;
  // What a stylesheet imports blocks as the stylesheet does.
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

/** When one more than the limit was under way. */
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

/** When the browser turned to a request: began its connection, or else sent it. */
function sentAt({ phases, startMs }: RecordedRequest): number {
  return phases.connectStartMs ?? phases.requestStartMs ?? startMs;
}

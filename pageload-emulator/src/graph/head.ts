import { LOW_PRIORITY_LIMIT } from '../client/low-priority-gate.ts';
import type { RecordedRequest } from '../recording/recording.ts';

/** The part of a load in which Chromium's parser is in the document's head. */
export interface Head {
  /** When it had ended in the recording. */
  endMs: number;
  /** What the parser waited for in it. */
  blockers: RecordedRequest[];
  /** Requests (`RecordedRequest.id`) that are held back meanwhile. */
  delayable: ReadonlySet<number>;
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
  const found = requests.filter(
    (request) => request.initiator.requestId === document.id && request.initiator.kind === 'parser',
  );
  const blocking = found.filter((request) => request.renderBlocking === true);
  if (blocking.length === 0) return null;
  const lastSentMs = Math.max(...blocking.map(sentAt));
  const delayable = found
    .filter((request) => request.renderBlocking === false)
    // A script that went with the blocking ones has a higher priority than the others.
    .filter(
      (request) => request.type === 'image' || (request.type === 'script' && sentAt(request) > lastSentMs),
    )
    .sort((a, b) => sentAt(a) - sentAt(b));
  const underway: RecordedRequest[] = [];
  for (const request of delayable) {
    const atMs = sentAt(request);
    const open = underway.filter(({ endMs }) => endMs > atMs);
    if (open.length >= LOW_PRIORITY_LIMIT) {
      const blockers = blocking.filter(({ endMs }) => endMs <= atMs);
      if (blockers.length === 0) return null;
      return { endMs: atMs, blockers, delayable: new Set(delayable.map(({ id }) => id)) };
    }
    underway.push(request);
  }
  return null;
}

/** When the browser turned to a request: began its connection, or else sent it. */
function sentAt({ phases, startMs }: RecordedRequest): number {
  return phases.connectStartMs ?? phases.requestStartMs ?? startMs;
}

import type { RecordedRequest, Recording } from '@hopwise/contract';
import { documentOf } from './requests/draft.ts';

/** Why a request of a recording is no part of the load that is predicted. */
type Exclusion = 'after-load' | 'cached' | 'failed' | 'socket';

/** The requests of a recording that its load event could have waited for. */
interface LoadRequests {
  /** In order of start; at least one: the document, if it or all came from the cache. */
  kept: RecordedRequest[];
  /** How many others there are, by the first reason that applies. */
  excluded: Record<Exclusion, number>;
  /** When the load event came, or, when it never did, when the last response that could hold it up ended; milliseconds. */
  loadMs: number;
}

/** Parts the requests of the load from those that began after it, came from the cache, failed without an answer or opened a WebSocket. */
export function loadRequests(recording: Recording): LoadRequests {
  const document = documentOf(recording);
  const loadMs = loadEndMs(recording);
  const excluded = { 'after-load': 0, cached: 0, failed: 0, socket: 0 };
  const kept = recording.requests.filter((request) => {
    const exclusion = request === document ? null : exclusionOf(request, loadMs);
    if (exclusion !== null) excluded[exclusion]++;
    return exclusion === null;
  });
  // A document from the cache took no time on the network, unlike the others.
  if (document.fromCache && kept.length > 1) {
    kept.splice(kept.indexOf(document), 1);
    excluded.cached++;
  }
  return { kept, excluded, loadMs };
}

/** When the load event came, or, when it never did, when the last response that could hold it up ended; 0 where nothing could. */
export const loadEndMs = (recording: Recording): number => recording.pltMs ?? lastBlockingEnd(recording);

function exclusionOf(request: RecordedRequest, loadMs: number): Exclusion | null {
  if (request.startMs >= loadMs) return 'after-load';
  if (isSocket(request)) return 'socket';
  if (request.fromCache) return 'cached';
  return isFailed(request) ? 'failed' : null;
}

/** The status of a connection that speaks another protocol from then on (RFC 9110 section 15.2.2). */
export const SWITCHED = 101;

/** Whether a request is a WebSocket's handshake, as proxies write it by its own URL; browsers write `wss:`, and ask for no other protocol in this way. */
const isSocket = ({ status }: Pick<RecordedRequest, 'status'>): boolean => status === SWITCHED;

/** Whether a request got no answer. */
export const isFailed = ({ status, transferBytes, protocol, fromCache }: RecordedRequest): boolean =>
  status === 0 && !transferBytes && protocol === null && !fromCache;

/**
 * Whether a request may hold up the end of a load. HTML standard, "delay the load event": not fetch and XHR, beacons, media, nor preloads
 * that nothing uses, nor WebSockets. A set of transfers without a navigation ends with its last one, whatever it is.
 */
export function mayBlockLoad(
  request: Pick<RecordedRequest, 'type' | 'status'> & {
    initiator: Pick<RecordedRequest['initiator'], 'kind'>;
  },
  { missing }: Pick<Recording, 'missing'>,
): boolean {
  if (isSocket(request)) return false;
  if (missing === 'navigation') return true;
  switch (request.type) {
    case 'beacon':
    case 'fetch':
    case 'media':
    case 'other':
      return false;
    case 'font':
      return request.initiator.kind !== 'preload';
    default:
      return true;
  }
}

function lastBlockingEnd(recording: Recording): number {
  let endMs = 0;
  for (const request of recording.requests) {
    if (mayBlockLoad(request, recording) && !request.fromCache) endMs = Math.max(endMs, request.endMs);
  }
  return endMs;
}

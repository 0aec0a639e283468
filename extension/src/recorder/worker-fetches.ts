/** What a page's service worker answers. */
import type { JoinedRequest } from './joined-request.ts';
import type { ResourceEntry } from './page-timings.ts';

/**
 * Within so long of being free a worker answers with what it keeps or makes, milliseconds; assumed. Chromium 156 took 2 to 40 ms on a busy machine
 * of two processors.
 */
const ANSWERS_WITHIN_MS = 100;

/**
 * Finds the requests whose responses a service worker fetched for the page. Chromium gives these as from a cache, whether they came from one or over the network,
 * without a protocol and with their bytes after decompression; only those from the worker's own cache are marked (`cache-storage`). What the worker keeps
 * comes soon, in the order of the requests: what comes later than that is taken to have come over the network. Firefox measures nothing of what a worker
 * answers, so that none are found there.
 */
export function findWorkerFetches(requests: readonly JoinedRequest[]): Set<JoinedRequest> {
  const fetched = new Set<JoinedRequest>();
  const answered = requests.filter(isAnsweredByWorker);
  let freeMs = 0;
  for (const request of answered.sort((a, b) => a.entry.requestStart - b.entry.requestStart)) {
    const { requestStart, responseEnd, deliveryType } = request.entry;
    const isLate = responseEnd - Math.max(freeMs, requestStart) > ANSWERS_WITHIN_MS;
    if (isLate && deliveryType !== 'cache-storage') fetched.add(request);
    else freeMs = Math.max(freeMs, responseEnd);
  }
  return fetched;
}

/** Whether a worker answered, and did not leave the request to the browser. Where it had no time to do so, the entry has no times either. */
function isAnsweredByWorker(request: JoinedRequest): request is JoinedRequest & { entry: ResourceEntry } {
  const { entry } = request;
  return entry !== null && entry.workerStart > 0 && entry.responseStart > 0 && entry.nextHopProtocol === '';
}

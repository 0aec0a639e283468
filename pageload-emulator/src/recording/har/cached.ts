import type { Entry } from './schema.ts';
import { numberOf } from './values.ts';

/**
 * Whether no byte of a response came over the network: it came from a cache, from a service worker's cache, or from the
 * browser itself, which redirects http to https (HSTS). Some recorders mark responses that HTTP/2 servers pushed as cached;
 * those came over the network.
 *
 * @param bodyHasHeaders whether the recorder counts as Firefox does, which writes 0 for the body of a cached response
 */
export function isCached(entry: Entry, bodyHasHeaders: boolean): boolean {
  if (isPushed(entry)) return false;
  const { response, _fromCache, _fetchType, _wasFulfilled } = entry;
  // DevTools; Playwright, for responses that a test fulfilled.
  if (isMarked(_fromCache) || isMarked(_wasFulfilled)) return true;
  // Safari
  if (typeof _fetchType === 'string' && / cache$/i.test(_fetchType)) return true;
  const transferred = numberOf(response?._transferSize) ?? 0;
  if (transferred > 0) return false;
  if (isMarked(response?.fromDiskCache) || isMarked(response?.fromPrefetchCache)) return true;
  if (isFromWorker(entry)) return true;
  const status = Number(response?.status);
  if (status === 307 && /^internal redirect$/i.test(response?.statusText ?? '')) return true;
  return (
    bodyHasHeaders &&
    status !== 304 &&
    numberOf(response?.bodySize) === 0 &&
    (numberOf(response?.content?.size) ?? 0) > 0
  );
}

/** Whether a service worker answered. */
export function isFromWorker({ response, _fetchType }: Entry): boolean {
  const marks = [response?._fetchedViaServiceWorker, response?.fromServiceWorker];
  return marks.some(isMarked) || _fetchType === 'Service Worker';
}

/** Whether a service worker answered with a response that it fetched from the network. */
export function isFetchedByWorker(entry: Entry): boolean {
  const source = entry.response?._serviceWorkerResponseSource;
  return isFromWorker(entry) && (source === 'network' || source === 'fallback-code');
}

/** Whether an HTTP/2 server pushed the response (RFC 9113 section 8.4). */
export function isPushed({ _was_pushed }: Entry): boolean {
  return isMarked(_was_pushed);
}

/** Recorders write true, 1, "1" or a name. */
function isMarked(mark: unknown): boolean {
  return mark === true || mark === 1 || (typeof mark === 'string' && !/^(|0|false)$/i.test(mark));
}

import type { Entry } from './schema.ts';
import { numberOf } from './values.ts';

/**
 * Whether nothing of an answer came over the network: from a cache, from a service worker that had it, or from the
 * browser itself, which turns http into https (HSTS). What HTTP/2 servers pushed is called cached by some, but came.
 *
 * @param bodyHasHeaders as Firefox counts, which writes 0 for the body of an answer from its cache
 */
export function isCached(entry: Entry, bodyHasHeaders: boolean): boolean {
  if (isPushed(entry)) return false;
  const { response, _fromCache, _fetchType, _wasFulfilled } = entry;
  // DevTools; Playwright, of what a test answered itself.
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

/** Whether the service worker that answered had it from the network. */
export function isFetchedByWorker(entry: Entry): boolean {
  const source = entry.response?._serviceWorkerResponseSource;
  return isFromWorker(entry) && (source === 'network' || source === 'fallback-code');
}

/** Whether an HTTP/2 server sent it before it was asked for (RFC 9113 section 8.4). */
export function isPushed({ _was_pushed }: Entry): boolean {
  return isMarked(_was_pushed);
}

/** Recorders write true, 1, "1" or a name. */
function isMarked(mark: unknown): boolean {
  return mark === true || mark === 1 || (typeof mark === 'string' && !/^(|0|false)$/i.test(mark));
}

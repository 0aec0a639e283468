import { namesConnection } from './connection.ts';
import type { Conventions } from './conventions.ts';
import { headerOf } from './headers.ts';
import { phaseLengths } from './phase-lengths.ts';
import type { Entry } from './schema.ts';
import { lengthOf, numberOf, objectOf } from './values.ts';

/**
 * Whether no byte of a response came over the network: it came from a cache, from a service worker's cache, or from the
 * browser itself, which redirects http to https (HSTS). Some recorders mark responses that HTTP/2 servers pushed as cached;
 * those came over the network.
 */
export function isCached(entry: Entry, conventions: Conventions): boolean {
  if (isPushed(entry)) return false;
  const { response, _fromCache, _fromDiskCache, _fetchType, _wasFulfilled } = entry;
  // DevTools; chrome-har-capturer; Playwright, for responses that a test fulfilled.
  if ([_fromCache, _fromDiskCache, _wasFulfilled].some(isMarked)) return true;
  // Safari
  if (typeof _fetchType === 'string' && / cache$/i.test(_fetchType)) return true;
  if (lengthOf(response?._transferSize) > 0) return false;
  if (isMarked(response?.fromDiskCache) || isMarked(response?.fromPrefetchCache)) return true;
  if (isFromWorker(entry)) return true;
  // chrome-har
  const hadEntry = objectOf(objectOf(entry.cache)?.beforeRequest) !== null;
  const status = Number(response?.status);
  if (status === 307 && isInternal(entry)) return true;
  const isWhole = status >= 200 && status < 300;
  if (isWhole && hadEntry && lengthOf(response?.bodySize) === 0) return true;
  return isWhole && (transferredNothing(entry, conventions) || tookNoTime(entry, conventions));
}

/** Whether Chromium answered by itself: HTTP/2 has no words beside the status, so that tools without them leave the header it adds. */
function isInternal({ response }: Entry): boolean {
  const reason = headerOf(response, 'non-authoritative-reason');
  return reason !== null || /^internal redirect$/i.test(response?.statusText ?? '');
}

/** Whether an answer has content of which the recorder counted no byte on the wire, on no connection of its own. */
function transferredNothing(entry: Entry, conventions: Conventions): boolean {
  const { response, timings } = entry;
  if (lengthOf(response?.content?.size) === 0) return false;
  const bodySize = numberOf(response?.bodySize);
  // Chrome until 2013 subtracts the headers from a transfer of 0 bytes.
  if (bodySize !== null && bodySize < -1 && bodySize === -lengthOf(response?.headersSize)) return true;
  if (conventions.bodyHasHeaders && bodySize === 0) return true;
  // Chrome's, by a tool that leaves out its own fields.
  const isUnconnected = conventions.namesConnections && !namesConnection(entry);
  if (isUnconnected && bodySize === 0 && lengthOf(timings?.connect) === 0) return true;
  // Chrome until 2019, and later for what a prefetch had brought.
  const isCountedZero = conventions.countsTransfers && numberOf(response?._transferSize) === 0;
  return isCountedZero && lengthOf(bodySize) === 0 && lengthOf(timings?.connect) === 0;
}

/** Whether an answer took no time in any phase, in a recording that times others (Firefox's caches of images and of HTTP). */
function tookNoTime(entry: Entry, conventions: Conventions): boolean {
  const { response, request, time } = entry;
  if (!conventions.timesWaits || lengthOf(time) > 0 || lengthOf(response?.headersSize) > 0) return false;
  if (phaseLengths(entry).some((ms) => ms > 0)) return false;
  const isUnnamed = !(response?.httpVersion || request.httpVersion);
  return isUnnamed || numberOf(response?.headersSize) === 0 || lengthOf(response?.bodySize) === 0;
}

/** Whether a service worker answered. */
function isFromWorker({ response, _fetchType }: Entry): boolean {
  const marks = [response?._fetchedViaServiceWorker, response?.fromServiceWorker];
  return marks.some(isMarked) || _fetchType === 'Service Worker';
}

/** Whether a service worker answered with a response that it fetched from the network. */
export function isFetchedByWorker(entry: Entry): boolean {
  const source = entry.response?._serviceWorkerResponseSource;
  return isFromWorker(entry) && (source === 'network' || source === 'fallback-code');
}

/** Whether a service worker answered, and not from what it keeps, as far as the recorder tells. */
export function mayBeFetchedByWorker(entry: Entry): boolean {
  return (
    isFromWorker(entry) && (entry.response?._serviceWorkerResponseSource == null || isFetchedByWorker(entry))
  );
}

/** Whether an HTTP/2 server pushed the response (RFC 9113 section 8.4). */
export function isPushed({ _was_pushed }: Entry): boolean {
  return isMarked(_was_pushed);
}

/** Recorders write true, 1, "1" or a name. */
function isMarked(mark: unknown): boolean {
  return mark === true || mark === 1 || (typeof mark === 'string' && !/^(|0|false)$/i.test(mark));
}

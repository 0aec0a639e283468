import type { RecordedRequest } from '@hopwise/contract';
import { CHROMIUM_COSTS } from '../client/client-costs.ts';
import { originOf } from '../util/url.ts';

/** Requests closer together than this belong to one batch. */
const MAX_GAP_MS = 3;
/** A longer wait was not for the browser's processor. */
const MAX_DELAY_MS = 100;

/**
 * Computes by how much later than usual the browser dispatched each request, milliseconds by `RecordedRequest.id`.
 *
 * While the page keeps the processor busy, the requests of a batch wait together for their first step (name resolution, or
 * sending on an open connection) after the browser has sent the requests before them. Only HTTP/2 and HTTP/3 show it: over
 * HTTP/1.1 waiting for a connection looks the same.
 *
 * @param requests in order of start
 */
export function dispatchDelays(requests: readonly RecordedRequest[]): ReadonlyMap<number, number> {
  const delays = new Map<number, number>();
  const openedMs = connectionsOpenedAt(requests);
  const usualMs = CHROMIUM_COSTS.requestMs + CHROMIUM_COSTS.requestDelayMs;
  const sentMs = requests.flatMap(({ phases }) => phases.requestStartMs ?? []).sort((a, b) => a - b);
  let busyUntilMs = 0;
  for (let from = 0, to = 0, lastSent = 0; from < requests.length; from = to) {
    let firstMs = Number.POSITIVE_INFINITY;
    do {
      firstMs = Math.min(firstMs, firstStepMs(requests[to]!, openedMs) ?? firstMs);
      to++;
    } while (to < requests.length && requests[to]!.startMs - requests[to - 1]!.startMs <= MAX_GAP_MS);
    const { startMs } = requests[from]!;
    if (firstMs - startMs > MAX_DELAY_MS) continue;
    for (; lastSent < sentMs.length && sentMs[lastSent]! < firstMs; lastSent++)
      busyUntilMs = sentMs[lastSent]!;
    const delayMs = firstMs - Math.max(startMs, busyUntilMs) - usualMs;
    if (delayMs <= 0) continue;
    for (let at = from; at < to; at++) delays.set(requests[at]!.id, delayMs);
  }
  return delays;
}

/** When each connection was ready, by `connectionKey`. */
export function connectionsOpenedAt(requests: readonly RecordedRequest[]): ReadonlyMap<string, number> {
  const openedMs = new Map<string, number>();
  for (const request of requests) {
    const { connectEndMs } = request.phases;
    if (connectEndMs === null) continue;
    const key = connectionKey(request);
    openedMs.set(key, Math.min(connectEndMs, openedMs.get(key) ?? Number.POSITIVE_INFINITY));
  }
  return openedMs;
}

/** Names a request's connection. Where the recorder does not, it is the origin's: HTTP/2 and HTTP/3 need one for each. */
function connectionKey({ connectionId, protocol, url }: RecordedRequest): string {
  return connectionId ?? `${protocol} ${originOf(url)}`;
}

/** When the browser took a request's first step; null when the request may have waited for a connection. */
export function firstStepMs(request: RecordedRequest, openedMs: ReadonlyMap<string, number>): number | null {
  const { protocol, phases, startMs } = request;
  if (protocol !== 'h2' && protocol !== 'h3') return null;
  const { dnsStartMs, connectStartMs, requestStartMs } = phases;
  const beganMs = dnsStartMs ?? connectStartMs;
  if (beganMs !== null) return beganMs;
  const wasOpen = (openedMs.get(connectionKey(request)) ?? Number.POSITIVE_INFINITY) <= startMs;
  return wasOpen ? requestStartMs : null;
}

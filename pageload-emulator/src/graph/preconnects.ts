import type { RecordedRequest } from '@hopwise/contract';
import { originOf } from '../util/url.ts';

/** A connection that was open before its first request. */
interface Preconnected {
  origin: string;
  /** As of `connectionPools`. */
  pool: number;
}

/** A request that leaves later than this may have waited for a handshake, milliseconds; assumed. */
const MAX_WAIT_MS = 20;

/**
 * Finds the connections to other origins than the document's that the browser had opened before their first requests: as the page
 * announces them (`rel=preconnect`), as earlier visits made it expect them, or as an earlier page left them. No request waited for their
 * handshakes.
 *
 * @param kept requests of the load, in order of start
 * @param pools of all requests, by `RecordedRequest.id`
 */
export function findPreconnected(
  kept: readonly RecordedRequest[],
  document: RecordedRequest,
  pools: readonly number[],
): Preconnected[] {
  // A recorder that writes no connections shows none that was open.
  if (kept.every(({ phases }) => phases.connectStartMs === null)) return [];
  const found: Preconnected[] = [];
  const met = new Set<string>();
  const connections = new Set<string>();
  for (const request of kept) {
    const origin = originOf(request.url);
    if (origin === null || request.fromCache) continue;
    const pool = pools[request.id]!;
    const isFirst = !met.has(`${pool} ${origin}`) && origin !== originOf(document.url);
    const connection = connectionOf(request);
    // Another origin's requests may have opened it.
    const isShared = connection !== null && connections.has(connection);
    if (isFirst && !isShared && leftAtOnce(request)) found.push({ origin, pool });
    met.add(`${pool} ${origin}`);
    if (connection !== null) connections.add(connection);
  }
  return found;
}

/** Some recorders identify connections by port, which may be equal for different addresses. */
function connectionOf({ protocol, connectionId, remoteIp }: RecordedRequest): string | null {
  return connectionId === null ? null : `${protocol} ${connectionId} ${remoteIp ?? ''}`;
}

/** Whether a request shows that it waited for no connection. */
function leftAtOnce({ startMs, phases }: RecordedRequest): boolean {
  const { dnsStartMs, connectStartMs, requestStartMs, responseStartMs } = phases;
  if (dnsStartMs !== null || connectStartMs !== null) return false;
  return requestStartMs !== null && responseStartMs !== null && requestStartMs - startMs < MAX_WAIT_MS;
}

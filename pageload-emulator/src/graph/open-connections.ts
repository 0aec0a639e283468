import type { RecordedRequest, Recording } from '@hopwise/contract';
import { originOf } from '../util/url.ts';

/** A connection that was open before its first request. */
interface OpenConnection {
  origin: string;
  /** Number of the pool, see `connectionPools`. */
  pool: number;
}

/** A request that leaves later than this may have waited for a handshake, milliseconds; assumed. */
const MAX_WAIT_MS = 20;

/**
 * Finds the connections that the browser had opened before their first requests: earlier pages left them, as where a page is reloaded,
 * earlier visits made the browser expect them, or the page announces them (`rel=preconnect`). No request waited for their handshakes.
 *
 * @param recording the load's
 * @param kept requests of the load, in order of start
 * @param pools of all requests, by `RecordedRequest.id`
 */
export function findOpenConnections(
  { showsConnections = false }: Recording,
  kept: readonly RecordedRequest[],
  pools: readonly number[],
): OpenConnection[] {
  if (!showsConnections && !kept.some(showsItsConnection)) return [];
  const found: OpenConnection[] = [];
  const met = new Set<string>();
  const connections = new Set<string>();
  for (const request of kept) {
    const origin = originOf(request.url);
    if (origin === null || request.fromCache) continue;
    const pool = pools[request.id]!;
    const connection = connectionOf(request);
    // Another origin's requests may have opened it.
    const isShared = connection !== null && connections.has(connection);
    if (!met.has(`${pool} ${origin}`) && !isShared && leftAtOnce(request)) found.push({ origin, pool });
    met.add(`${pool} ${origin}`);
    if (connection !== null) connections.add(connection);
  }
  return found;
}

/** Whether a request shows that its recorder writes connections: one without a handshake then went over an open connection. */
const showsItsConnection = ({ connectionId, phases }: RecordedRequest): boolean =>
  connectionId !== null || phases.connectStartMs !== null;

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

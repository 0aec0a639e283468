import { groupBy, type RecordedRequest, type Recording } from '@hopwise/contract';
import { siteKey } from '../util/site.ts';
import { originOf } from '../util/url.ts';

// Bits of a pool's number.
const WITHOUT_CREDENTIALS = 1;
const IN_CROSS_SITE_FRAME = 2;

/** The pool's partition of the network state, which has connections and what is known of servers; 0 for the page's own. */
export const partitionOf = (pool: number): number => pool & IN_CROSS_SITE_FRAME;

/**
 * Determines which requests to an origin may share connections.
 *
 * - Browsers separate connections with and without credentials (Fetch standard, "connection pools"). Cross-origin fonts are
 *   requested without credentials; so are cross-origin module scripts and resources with a `crossorigin` attribute, which only
 *   the requests' headers or the connections of a multiplexed recording show. A preflight never has any: where its request took another
 *   connection, that one has.
 * - Chromium separates those of frames of other sites from the page's (`NetworkAnonymizationKey`: the page's site, and whether
 *   the frame is of another), unless a recorded connection carried requests of both. Firefox and WebKit go by the page's site alone
 *   (Fetch standard, "network partition keys").
 *
 * @returns by `RecordedRequest.id`, a number that is equal for requests that may share connections; 0 for most
 */
export function connectionPools(recording: Recording): number[] {
  const frames = framesOf(recording);
  const requests = recording.requests;
  const apart = new Set(requests.flatMap((request) => preflightApart(request, requests) ?? []));
  const anonymous = requests.map((request) => {
    if (apart.has(request.id)) return WITHOUT_CREDENTIALS;
    const { credentials } = request;
    if (credentials !== undefined && credentials !== null) return credentials ? 0 : WITHOUT_CREDENTIALS;
    const home = frames[request.id] ?? recording.url;
    const isAnonymous = request.type === 'font' && originOf(request.url) !== originOf(home);
    return isAnonymous ? WITHOUT_CREDENTIALS : 0;
  });
  const partitions = partitionsOf(recording, frames);
  const pools = anonymous.map((pool, id) => pool | partitions[id]!);
  for (const connections of multiplexedConnections(recording, partitions))
    separate(connections, pools, requests);
  return pools;
}

/** The number of a request's preflight that was on another connection; null for none. */
function preflightApart(
  { connectionId, initiator }: RecordedRequest,
  requests: readonly RecordedRequest[],
): number | null {
  const preflight = initiator.requestId === null ? undefined : requests[initiator.requestId];
  if (preflight?.method !== 'OPTIONS' || connectionId === null || preflight.connectionId === null)
    return null;
  return preflight.connectionId === connectionId ? null : preflight.id;
}

const PARTITIONED_BY_PAGE = /^(firefox|safari|webkit)/i;

/** `IN_CROSS_SITE_FRAME` for requests of frames of other sites, where the browser separates them; else 0. */
function partitionsOf({ browser, requests, url }: Recording, frames: readonly (string | null)[]): number[] {
  const site = siteKey(url);
  const isCrossSite = frames.map((frame) => frame !== null && siteKey(frame) !== site);
  const byConnection = new Map<string, boolean>();
  const isShared = requests.some(({ id, connectionId, fromCache }) => {
    if (connectionId === null || fromCache) return false;
    const before = byConnection.get(connectionId) ?? isCrossSite[id]!;
    byConnection.set(connectionId, before);
    return before !== isCrossSite[id];
  });
  const separates = !isShared && !PARTITIONED_BY_PAGE.test(browser);
  return isCrossSite.map((is) => (is && separates ? IN_CROSS_SITE_FRAME : 0));
}

/** For each origin, partition and multiplexed protocol, its requests by connection, in order of the connections' first use. */
function multiplexedConnections(
  { requests }: Recording,
  partitions: readonly number[],
): RecordedRequest[][][] {
  const multiplexed = requests
    .filter(
      ({ protocol, connectionId, fromCache }) =>
        (protocol === 'h2' || protocol === 'h3') && connectionId !== null && !fromCache,
    )
    .sort((a, b) => a.startMs - b.startMs || a.id - b.id);
  const byServer = groupBy(
    multiplexed,
    ({ id, protocol, url }) => `${protocol} ${partitions[id]} ${originOf(url)}`,
  );
  return [...byServer.values()].map((own) => [...groupBy(own, ({ connectionId }) => connectionId).values()]);
}

/**
 * A second connection beside one in use belongs to another pool; one that only follows it may replace it. Of several, a
 * connection that begins with a request of a script without credentials has none either: modules request their imports as they
 * were requested themselves.
 */
function separate(
  connections: readonly RecordedRequest[][],
  pools: number[],
  requests: readonly RecordedRequest[],
): void {
  const isAnonymous = (own: RecordedRequest[]) => {
    const initiator = own[0]!.initiator.requestId;
    const isImport =
      connections.length > 1 && initiator !== null && requests[initiator]!.method !== 'OPTIONS';
    const imported = isImport && isWithoutCredentials(pools[initiator]!);
    return imported || own.some(({ id }) => isWithoutCredentials(pools[id]!));
  };
  let usedUntilMs = Number.NEGATIVE_INFINITY;
  for (const own of connections) {
    if (isAnonymous(own) || own[0]!.startMs < usedUntilMs) {
      for (const { id } of own) pools[id]! |= WITHOUT_CREDENTIALS;
    } else {
      usedUntilMs = Math.max(usedUntilMs, ...own.map(({ endMs }) => endMs));
    }
  }
}

const isWithoutCredentials = (pool: number): boolean => (pool & WITHOUT_CREDENTIALS) !== 0;

/** URL of the frame that made each request, the request's own URL for a frame's document; null for the page itself. */
function framesOf({ requests }: Recording): (string | null)[] {
  const frames: (string | null)[] = [];
  for (const { id, type, url, initiator } of requests) {
    const { requestId } = initiator;
    // An initiator comes before what it initiates.
    const inherited = requestId !== null && requestId < id ? frames[requestId] : null;
    frames.push(type === 'iframe' ? url : (inherited ?? null));
  }
  return frames;
}

import type { RecordedRequest, Recording } from '@hopwise/contract';
import { originOf } from '../util/url.ts';

const WITHOUT_CREDENTIALS = 1;

/**
 * Determines which requests to an origin may share connections: browsers separate connections with and without credentials
 * (Fetch standard, "connection pools"). Cross-origin fonts are requested without credentials; so are cross-origin module
 * scripts and resources with a `crossorigin` attribute, which only the requests' headers or the connections of a multiplexed
 * recording show. A page and its frames share connections: partitions depend on the page's site (Fetch standard, "network partition keys").
 *
 * @returns by `RecordedRequest.id`, a number that is equal for requests that may share connections; 0 for most
 */
export function connectionPools(recording: Recording): number[] {
  const frames = framesOf(recording);
  const pools = recording.requests.map((request) => {
    const { credentials } = request;
    if (credentials !== undefined && credentials !== null) return credentials ? 0 : WITHOUT_CREDENTIALS;
    const home = frames[request.id] ?? recording.url;
    const anonymous = request.type === 'font' && originOf(request.url) !== originOf(home);
    return anonymous ? WITHOUT_CREDENTIALS : 0;
  });
  for (const connections of multiplexedConnections(recording)) separate(connections, pools);
  return pools;
}

/** For each origin and multiplexed protocol, its requests by connection, in order of the connections' first use. */
function multiplexedConnections({ requests }: Recording): RecordedRequest[][][] {
  const found = new Map<string, Map<string, RecordedRequest[]>>();
  for (const request of requests.toSorted((a, b) => a.startMs - b.startMs || a.id - b.id)) {
    const { protocol, connectionId, fromCache, url } = request;
    if ((protocol !== 'h2' && protocol !== 'h3') || connectionId === null || fromCache) continue;
    const key = `${protocol} ${originOf(url)}`;
    const connections = found.get(key) ?? new Map<string, RecordedRequest[]>();
    found.set(key, connections);
    const own = connections.get(connectionId);
    if (own === undefined) connections.set(connectionId, [request]);
    else own.push(request);
  }
  return [...found.values()].map((connections) => [...connections.values()]);
}

/**
 * A second connection beside one in use belongs to another pool; one that only follows it may replace it. Of several, a
 * connection that begins with a request of a script without credentials has none either: modules request their imports as they
 * were requested themselves.
 */
function separate(connections: readonly RecordedRequest[][], pools: number[]): void {
  const isAnonymous = (own: RecordedRequest[]) => {
    const initiator = own[0]!.initiator.requestId;
    const imported = connections.length > 1 && initiator !== null && pools[initiator] === WITHOUT_CREDENTIALS;
    return imported || own.some(({ id }) => pools[id] === WITHOUT_CREDENTIALS);
  };
  let usedUntilMs = Number.NEGATIVE_INFINITY;
  for (const own of connections) {
    if (isAnonymous(own) || own[0]!.startMs < usedUntilMs) {
      for (const { id } of own) pools[id] = WITHOUT_CREDENTIALS;
    } else {
      usedUntilMs = Math.max(usedUntilMs, ...own.map(({ endMs }) => endMs));
    }
  }
}

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

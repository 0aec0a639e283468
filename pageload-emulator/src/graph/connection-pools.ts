import type { RecordedRequest, Recording } from '@hopwise/contract';
import { originOf } from '../util/url.ts';

const WITHOUT_CREDENTIALS = 1;

/**
 * Which of an origin's connections each request may share: browsers keep those with and without
 * credentials apart (Fetch standard, "connection pools"). A font of another origin is asked for without; so are its module
 * scripts and what has a `crossorigin` attribute, which only the connections of a multiplexed recording tell. They
 * share them between a page and its frames: partitions go by the site of the page (Fetch standard, "network partition keys").
 *
 * @returns by `RecordedRequest.id` a number that is equal for requests that may share; 0 for most
 */
export function connectionPools(recording: Recording): number[] {
  const frames = framesOf(recording);
  const pools = recording.requests.map((request) => {
    const home = frames[request.id] ?? recording.url;
    const anonymous = request.type === 'font' && originOf(request.url) !== originOf(home);
    return anonymous ? WITHOUT_CREDENTIALS : 0;
  });
  for (const connections of multiplexedConnections(recording)) separate(connections, pools);
  return pools;
}

/** Of each origin under each multiplexed protocol: its requests by their connection, the first used connection first. */
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
 * A second connection beside one that is in use is of another pool; one that only follows it may take its place. Of two, the one
 * that begins with what a script without credentials asked for is the scripts' own: a module's imports are asked for as it was.
 */
function separate(connections: readonly RecordedRequest[][], pools: number[]): void {
  const isAnonymous = (own: RecordedRequest[]) => {
    const asker = own[0]!.initiator.requestId;
    const imported = connections.length > 1 && asker !== null && pools[asker] === WITHOUT_CREDENTIALS;
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

/** URL of the frame in which each request was made, its own when it is a frame's document; null in the page itself. */
function framesOf({ requests }: Recording): (string | null)[] {
  const frames: (string | null)[] = [];
  for (const { id, type, url, initiator } of requests) {
    const asker = initiator.requestId;
    // Nobody is asked for by what came later.
    const inherited = asker !== null && asker < id ? frames[asker] : null;
    frames.push(type === 'iframe' ? url : (inherited ?? null));
  }
  return frames;
}

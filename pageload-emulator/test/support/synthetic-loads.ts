import {
  type Assignment,
  emulate,
  type NetworkPath,
  type PageGraph,
  type RecordedRequest,
  type Recording,
  type ServerProfile,
  type WaterfallEntry,
} from '@hopwise/pageload-emulator';
import { handshakeOf } from '../../src/transport/handshake.ts';
import { createRandom, normal } from '../../src/util/random.ts';
import { inOrder } from './in-order.ts';
import { type FetchSketch, pageOf, serverOf } from './pages.ts';

/** A typical page: a document, styles and scripts that it names, then many images, on some origins. */
export function randomPage(seed: number): PageGraph {
  const random = createRandom(seed);
  const origins = Array.from(
    { length: 3 + Math.floor(3 * random()) },
    (_, index) => `https://o${index}.test`,
  );
  const anyOrigin = () => Math.floor(origins.length * random());
  const bytes = (median: number) => Math.round(Math.min(1e6, median * Math.exp(normal(random))));
  const fetches: FetchSketch[] = [{ bytes: bytes(30_000) }];
  const blocking = 6 + Math.floor(6 * random());
  for (let index = 0; index < blocking; index++) {
    fetches.push({ origin: anyOrigin(), bytes: bytes(20_000), after: [0], delayMs: 2 * index });
  }
  const images = 20 + Math.floor(30 * random());
  for (let index = 0; index < images; index++) {
    const after = [1 + Math.floor(blocking * random())];
    fetches.push({ origin: anyOrigin(), bytes: bytes(15_000), after, delayMs: 20 * random() });
  }
  return pageOf(fetches, origins);
}

/** Servers at some distance beyond the nearest one. */
export function randomServers(graph: PageGraph, seed: number): ServerProfile[] {
  const random = createRandom(seed ^ 0x5eed);
  return graph.origins.map((origin, index) =>
    serverOf(origin, { extraRttMs: index === 0 ? 0 : 30 * random(), thinkMs: 8 * random() }),
  );
}

/** Records an emulated load as a browser would. */
export function recordLoad(
  graph: PageGraph,
  path: NetworkPath,
  servers: readonly ServerProfile[],
  assignment: Assignment,
  seed = 1,
): Recording {
  const load = emulate(graph, path, servers, assignment, { seed, waterfall: true });
  const activityOf = new Map(
    graph.activities.flatMap((each) => (each.kind === 'fetch' ? [[each.requestId, each]] : [])),
  );
  // The first to ask an origin waits for its handshake.
  const firstOf = new Map<number, WaterfallEntry>();
  for (const entry of load.entries) {
    const { origin } = activityOf.get(entry.requestId)!;
    const first = firstOf.get(origin);
    if (first === undefined || entry.startMs < first.startMs) firstOf.set(origin, entry);
  }
  const requests = load.entries.map((entry, id): RecordedRequest => {
    const activity = activityOf.get(entry.requestId)!;
    const origin = graph.origins[activity.origin]!;
    const protocol = assignment[origin] ?? 'h2';
    const rttMs = path.rttMs + servers[activity.origin]!.extraRttMs;
    const opens = firstOf.get(activity.origin) === entry;
    const rounds = handshakeOf(protocol, '1.3').rounds.length;
    const parent = activity.after[0]?.activity;
    return {
      id,
      url: activity.url,
      method: 'GET',
      type: activity.type,
      status: 200,
      protocol,
      startMs: entry.startMs,
      endMs: entry.endMs,
      phases: {
        dnsStartMs: opens ? entry.startMs : null,
        dnsEndMs: opens ? entry.startMs : null,
        connectStartMs: opens ? entry.startMs : null,
        secureStartMs: opens ? entry.startMs + (rounds === 2 ? rttMs : 0) : null,
        connectEndMs: opens ? entry.sentMs : null,
        requestStartMs: entry.sentMs,
        responseStartMs: entry.firstByteMs,
      },
      transferBytes: activity.responseBytes,
      bodyBytes: activity.responseBytes,
      decodedBytes: activity.responseBytes,
      initiator: {
        kind: parent === undefined ? 'navigation' : 'parser',
        requestId: parent ?? null,
        source: 'recorded',
      },
      renderBlocking: null,
      fromCache: false,
      connectionId: protocol === 'h1' ? null : `${protocol}${activity.origin}`,
      remoteIp: null,
      offersH3: true,
    };
  });
  return inOrder({
    format: 'hopwise-recording',
    version: 1,
    url: `${graph.origins[0]}/`,
    recordedAt: '2026-01-01T00:00:00.000Z',
    browser: 'synthetic',
    pltMs: load.pltMs,
    domContentLoadedMs: null,
    firstContentfulPaintMs: null,
    largestContentfulPaintMs: null,
    requests,
  });
}

/** HTTP/2 and HTTP/3 on alternate origins. */
export function mixedAssignment(graph: PageGraph): Assignment {
  return Object.fromEntries(graph.origins.map((origin, index) => [origin, index % 2 === 1 ? 'h3' : 'h2']));
}

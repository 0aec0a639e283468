import type {
  FetchActivity,
  NetworkPath,
  PageGraph,
  Protocol,
  ServerProfile,
} from '@hopwise/pageload-emulator';

/** A fetch of which only some fields matter. */
export interface FetchSketch {
  origin?: number;
  bytes: number;
  /** Activities that it waits for, whole. */
  after?: number[];
  urgency?: number;
  incremental?: boolean;
  requestBytes?: number;
  delayMs?: number;
  thinkMs?: number;
  bodyMs?: number;
}

/** A page graph of fetches that all hold up the load event. */
export function pageOf(fetches: FetchSketch[], origins = ['https://a.test']): PageGraph {
  return {
    url: `${origins[0]}/`,
    origins,
    activities: fetches.map(
      (sketch, id): FetchActivity => ({
        kind: 'fetch',
        id,
        requestId: id,
        url: `${origins[sketch.origin ?? 0]}/${id}`,
        origin: sketch.origin ?? 0,
        type: id === 0 ? 'document' : 'image',
        requestBytes: sketch.requestBytes ?? 400,
        responseBytes: sketch.bytes,
        blocksLoad: true,
        renderBlocking: id === 0,
        urgency: sketch.urgency ?? 3,
        incremental: sketch.incremental ?? true,
        after: (sketch.after ?? []).map((activity) => ({
          activity,
          kind: 'parser',
          fraction: 1,
          source: 'recorded',
        })),
        delayMs: sketch.delayMs ?? 0,
        ...(sketch.thinkMs !== undefined && { thinkMs: sketch.thinkMs }),
        ...(sketch.bodyMs !== undefined && { bodyMs: sketch.bodyMs }),
      }),
    ),
  };
}

/** A clean path with one bandwidth-delay product of queue. */
export function pathOf(path: Partial<NetworkPath> = {}): NetworkPath {
  const rttMs = path.rttMs ?? 50;
  const downBps = path.downBps ?? 20e6;
  return {
    rttMs,
    downBps,
    upBps: path.upBps ?? downBps,
    loss: 0,
    lossBurst: 1,
    queueBytes: Math.max(15_000, (downBps / 8000) * rttMs),
    udp: { kind: 'open' },
    ...path,
  };
}

/** So fast that only round trips remain. */
export const ROUND_TRIPS_ONLY = pathOf({ rttMs: 100, downBps: 1e12, upBps: 1e12, queueBytes: 1e12 });

export function serverOf(origin: string, changes: Partial<ServerProfile> = {}): ServerProfile {
  return {
    origin,
    extraRttMs: 0,
    thinkMs: 0,
    tcp: { initialWindow: 10, congestionControl: 'cubic' },
    quic: { initialWindow: 32, congestionControl: 'reno' },
    tlsVersion: '1.3',
    offers: { h1: true, h2: true, h3: true },
    ...changes,
  };
}

export function uniform(graph: PageGraph, protocol: Protocol): Record<string, Protocol> {
  return Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
}

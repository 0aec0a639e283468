/**
 * Lantern, the simulation behind Lighthouse's metrics (`@paulirish/trace_engine`, `models/trace/lantern`), on the page
 * graphs that hopwise emulates.
 *
 * It is given its best chance: of its settings and of what its graphs can hold, those that brought its load times closest to
 * measured ones.
 *
 * - `rtt` and `throughput` are the link's own, `cpuSlowdownMultiplier` and `layoutTaskMultiplier` 1: what
 *   `Simulator.createSimulator` sets under throttling method "provided". Nothing is multiplied as for DevTools throttling;
 *   `observedThroughput` is the same and only counts in estimates of wasted bytes.
 * - `additionalRttByOrigin` and `serverResponseTimeByOrigin` are hopwise's estimates from the same recording; a response time is
 *   the median over the origin's requests, as Lantern itself sums them up. It takes 0 for "not known" (30 ms).
 * - Names cost nothing: Lantern counts 2 round trips for each, the lab's browser reads them from a file.
 * - Its graph has no waits between cause and request (timers, parsing): they are put in as nodes without a connection, which last as
 *   long. As work on the main thread, of which one piece goes on at a time, they made it worse, and left out too.
 * - Six connections an origin on h1, as browsers have; by itself it makes one for each request that was asked for before the first
 *   one ended. Its limit of ten requests at a time, whatever the protocol, is lifted.
 *
 * What it cannot hold: a dependency on part of a response waits for the whole; random loss, the queue, the upstream rate and what
 * happens to UDP do not exist in it.
 *
 * HTTP/3: `ConnectionPool` asks whether a request's protocol is "h2", and makes connections of HTTP/1.1 for every other: six TCP
 * connections with TCP's and TLS's handshakes. Only its analysis of recordings knows "h3" (one round trip less before a request).
 * So h3 is to it what h1 is, or, where its requests are called "h2", what h2 is: one connection. Both are tried, and the one that comes
 * closer to measured loads under h3 is taken. Either way h3 is never its choice, as it says the same of h1 or h2.
 */

import { median } from '@hopwise/lab/statistics';
import {
  buildGraph,
  type ComputeActivity,
  estimateNetwork,
  type FetchActivity,
  type NetworkPath,
  type PageGraph,
  type Recording,
  type ServerProfile,
} from '@hopwise/pageload-emulator';
import { Graph, Simulation, type Types } from '@paulirish/trace_engine/models/trace/lantern/lantern.js';
import type { Guess, LanternProtocol } from './guess.ts';

type Node = Graph.CPUNode | Graph.NetworkNode;

const PROTOCOL_FIELD: Record<LanternProtocol, string> = { h1: 'http/1.1', h2: 'h2' };
/** By RFC 9218 urgency; what is below is very low too. */
const PRIORITIES: Types.ResourcePriority[] = ['VeryHigh', 'High', 'Medium', 'Low', 'VeryLow'];
/** Taken for a server that answers at once, as Lantern takes 0 for "not known". */
const AT_ONCE_MS = 1e-6;
/** `Simulator` reads a file from disk at 20 ms a MiB after 8 ms. */
const DISK_SEEK_MS = 8;
const DISK_MS_PER_BYTE = 20 / 2 ** 20;
/** Shorter waits are the clock's. */
const MIN_WAIT_MS = 0.5;
const NO_LIMIT = 10_000;

/** Lantern's simulated load times of h1 and h2 from one recorded load on a path that it is told. */
export function lanternGuess(recording: Recording, path: NetworkPath): Guess {
  const startedAt = performance.now();
  const page = buildGraph(recording);
  const { servers } = estimateNetwork(recording);
  const pltMs = {
    h1: simulate(page, servers, recording, path, 'h1'),
    h2: simulate(page, servers, recording, path, 'h2'),
  };
  return {
    pltMs,
    best: pltMs.h1 < pltMs.h2 ? 'h1' : 'h2',
    elapsedMs: performance.now() - startedAt,
  };
}

/** The same with a time of h3. */
export const withH3 = (guess: Guess, as: LanternProtocol): Guess => ({
  ...guess,
  pltMs: { ...guess.pltMs, h3: guess.pltMs[as]! },
});

/** Simulated end of the last activity that the load event waits for: hopwise's definition of the load time, none of Lantern's metrics. */
function simulate(
  page: PageGraph,
  servers: readonly ServerProfile[],
  recording: Recording,
  path: NetworkPath,
  protocol: LanternProtocol,
): number {
  const nodes = lanternGraph(page, recording, protocol);
  const nodeTimings = runLantern(nodes, page, servers, path);
  let pltMs = 0;
  for (const { id, blocksLoad } of page.activities) {
    if (blocksLoad) pltMs = Math.max(pltMs, nodeTimings.get(nodes[id]!)!.endTime);
  }
  return pltMs;
}

/** Lantern's simulation alone of a graph that `lanternGraph` made. */
export function runLantern(
  nodes: readonly Node[],
  page: PageGraph,
  servers: readonly ServerProfile[],
  path: NetworkPath,
): ReturnType<Simulation.Simulator['simulate']>['nodeTimings'] {
  Simulation.DNSCache.rttMultiplier = 0;
  const simulator = new Simulation.Simulator({
    rtt: path.rttMs,
    throughput: path.downBps,
    observedThroughput: path.downBps,
    cpuSlowdownMultiplier: 1,
    layoutTaskMultiplier: 1,
    maximumConcurrentRequests: NO_LIMIT,
    additionalRttByOrigin: new Map(servers.map(({ origin, extraRttMs }) => [origin, extraRttMs])),
    serverResponseTimeByOrigin: responseTimes(page, servers),
  });
  return simulator.simulate(nodes[0]!).nodeTimings;
}

function responseTimes(page: PageGraph, servers: readonly ServerProfile[]): Map<string, number> {
  const times = new Map(servers.map(({ origin }) => [origin, [] as number[]]));
  const typical = new Map(servers.map(({ origin, thinkMs }) => [origin, thinkMs]));
  for (const activity of page.activities) {
    if (activity.kind !== 'fetch') continue;
    const origin = page.origins[activity.origin]!;
    times.get(origin)?.push(activity.thinkMs ?? typical.get(origin) ?? 0);
  }
  return new Map(
    [...times].map(([origin, all]) => [origin, Math.max(AT_ONCE_MS, all.length > 0 ? median(all) : 0)]),
  );
}

/** Lantern's nodes by the index of their activity; the first is the one that all others depend on. */
export function lanternGraph(page: PageGraph, recording: Recording, protocol: LanternProtocol): Node[] {
  const nodes: Node[] = [];
  /** What an activity begins with: the wait before its request, or itself. */
  const begins: Node[] = [];
  for (const activity of page.activities) {
    const node = nodeOf(activity, page, recording, protocol);
    nodes.push(node);
    if (activity.kind === 'fetch' && activity.after.length > 0 && activity.delayMs > MIN_WAIT_MS) {
      const wait = waitNode(activity, page, recording, protocol);
      node.addDependency(wait);
      begins.push(wait);
    } else {
      begins.push(node);
    }
  }
  for (const { id, after } of page.activities) {
    for (const { activity } of after) begins[id]!.addDependency(nodes[activity]!);
    if (id > 0 && after.length === 0) begins[id]!.addDependency(nodes[0]!);
  }
  return nodes;
}

function nodeOf(
  activity: FetchActivity | ComputeActivity,
  page: PageGraph,
  recording: Recording,
  protocol: LanternProtocol,
): Node {
  if (activity.kind === 'fetch') return new Graph.NetworkNode(requestOf(activity, page, recording, protocol));
  const { id, requestId, durationMs } = activity;
  const startUs = recording.requests[requestId]!.endMs * 1000;
  // Thread and begin are the node's name, which must be its own.
  return new Graph.CPUNode({
    name: 'RunTask',
    args: {},
    pid: 1,
    tid: id,
    ts: startUs,
    dur: durationMs * 1000,
  });
}

function waitNode(
  activity: FetchActivity,
  page: PageGraph,
  recording: Recording,
  protocol: LanternProtocol,
): Graph.NetworkNode {
  return new Graph.NetworkNode({
    ...requestOf(activity, page, recording, protocol),
    requestId: `wait ${activity.id}`,
    fromDiskCache: true,
    resourceSize: (activity.delayMs - DISK_SEEK_MS) / DISK_MS_PER_BYTE,
  });
}

function requestOf(
  activity: FetchActivity,
  page: PageGraph,
  recording: Recording,
  protocol: LanternProtocol,
): Types.NetworkRequest {
  const { startMs, endMs, phases, status } = recording.requests[activity.requestId]!;
  const url = new URL(activity.url);
  return {
    requestId: `fetch ${activity.id}`,
    connectionId: 0,
    connectionReused: false,
    url: activity.url,
    protocol: PROTOCOL_FIELD[protocol],
    parsedURL: {
      scheme: url.protocol.slice(0, -1),
      host: url.hostname,
      securityOrigin: page.origins[activity.origin]!,
    },
    documentURL: page.url,
    rendererStartTime: startMs,
    // Not before any response's end: Lantern then has no connections beyond its six for an origin.
    networkRequestTime: Number.MAX_SAFE_INTEGER,
    responseHeadersEndTime: phases.responseStartMs ?? endMs,
    networkEndTime: endMs,
    transferSize: activity.responseBytes,
    resourceSize: activity.responseBytes,
    fromDiskCache: false,
    fromMemoryCache: false,
    isLinkPreload: false,
    finished: true,
    failed: false,
    statusCode: status,
    initiator: { type: 'other' },
    mimeType: '',
    priority: PRIORITIES[Math.min(activity.urgency, PRIORITIES.length - 1)]!,
    frameId: undefined,
    fromWorker: false,
  };
}

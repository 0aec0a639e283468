/**
 * Lantern, the simulation behind Lighthouse's metrics (`@paulirish/trace_engine`, `models/trace/lantern`), on the page
 * graphs that hopwise emulates.
 *
 * It is configured as favourably as possible: the settings and graph forms whose load times came closest to measured ones.
 *
 * - `rtt` and `throughput` are the link's own, `cpuSlowdownMultiplier` and `layoutTaskMultiplier` 1: what
 *   `Simulator.createSimulator` sets under throttling method "provided". No DevTools throttling factors apply;
 *   `observedThroughput` has the same value and only affects estimates of wasted bytes.
 * - `additionalRttByOrigin` and `serverResponseTimeByOrigin` are hopwise's estimates from the same recording; a response time
 *   is the median over the origin's requests, as Lantern itself summarises them. Lantern reads 0 as "unknown" (30 ms).
 * - DNS costs nothing: Lantern counts 2 round trips for each name, but the lab's browser reads names from a file.
 * - Its graph has no waits between cause and request (timers, parsing): they are inserted as nodes without a connection that
 *   last as long. Modelling them as main-thread work, or leaving them out, gave worse results.
 * - Six connections for each origin on h1, as in browsers; by default it opens one for each request made before the first one
 *   ended. Its limit of ten concurrent requests under every protocol is lifted.
 *
 * Not modelled by Lantern: a dependency on part of a response (it waits for the whole), random loss, the queue, the upstream
 * rate, and the treatment of UDP.
 *
 * HTTP/3: `ConnectionPool` checks whether a request's protocol is "h2" and treats every other as HTTP/1.1: six TCP connections
 * with TCP and TLS handshakes. Only its analysis of recordings knows "h3" (one round trip less before a request). So Lantern
 * simulates h3 like h1, or, when its requests are labelled "h2", like h2 with one connection. Both are tried, and the one
 * closer to measured loads under h3 is used. Either way it never chooses h3, as its time equals that of h1 or h2.
 */

import { median } from '@hopwise/contract';
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
/** By RFC 9218 urgency; lower priorities are very low too. */
const PRIORITIES: Types.ResourcePriority[] = ['VeryHigh', 'High', 'Medium', 'Low', 'VeryLow'];
/** Stands for a server that answers at once, as Lantern reads 0 as "unknown". */
const AT_ONCE_MS = 1e-6;
/** `Simulator` reads a file from disk at 20 ms a MiB after 8 ms. */
const DISK_SEEK_MS = 8;
const DISK_MS_PER_BYTE = 20 / 2 ** 20;
/** Shorter waits are within clock resolution. */
const MIN_WAIT_MS = 0.5;
const NO_LIMIT = 10_000;

/** Lantern's simulated load times of h1 and h2 from one recorded load, given the path. */
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

/** Adds a time for h3, taken from h1 or h2. */
export const withH3 = (guess: Guess, as: LanternProtocol): Guess => ({
  ...guess,
  pltMs: { ...guess.pltMs, h3: guess.pltMs[as]! },
});

/**
 * Simulated end of the last activity that the load event waits for: hopwise's definition of the load time, not one of Lantern's
 * metrics.
 */
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

/** Lantern's simulation of a graph from `lanternGraph`, without building the graph. */
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

/** Lantern's nodes by the index of their activity; all others depend on the first. */
export function lanternGraph(page: PageGraph, recording: Recording, protocol: LanternProtocol): Node[] {
  const nodes: Node[] = [];
  /** The first node of an activity: the wait before its request, or the activity itself. */
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
  // Thread and start time form the node's id, which must be unique.
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
    // Starting after every response's end stops Lantern from opening more than six connections for an origin.
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

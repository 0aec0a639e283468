import { choose } from './choose/choose.ts';
import { loadTime } from './choose/confidence.ts';
import { uniformAssignment } from './choose/uniform.ts';
import { emulate } from './emulate.ts';
import { buildGraph } from './graph/build-graph.ts';
import type { PageGraph } from './graph/page-graph.ts';
import { assumedQueueBytes, estimateNetwork, type NetworkEstimate } from './path/estimate.ts';
import type { FigureSource, NetworkFigure, NetworkPath, ServerProfile } from './path/network-path.ts';
import type { LoadTime, Prediction, Unavailable, WaterfallEntry } from './prediction.ts';
import { PROTOCOLS, type Protocol } from './protocol.ts';
import { randomLoss } from './random-loss.ts';
import type { Recording } from './recording/recording.ts';
import { median } from './statistics.ts';

/** Figures of the network that somebody knows; units as in `NetworkPath`. */
export type KnownNetwork = Partial<Pick<NetworkPath, NetworkFigure>>;

export interface PredictOptions {
  /** Figures to take as they are, for instance another network's to ask about. */
  network?: KnownNetwork;
  /** Figures that real transfers showed; `network` goes before them. */
  measured?: KnownNetwork;
  /** Scenarios (losses, and networks around the estimate) to predict over; 8 to 16 are plenty. Default 12. */
  seeds?: number;
  /** What is known of single servers, over what the recording shows; matched by `origin`. */
  servers?: (Partial<ServerProfile> & Pick<ServerProfile, 'origin'>)[];
}

const DEFAULT_SEEDS = 12;
const UDP_BLOCKED = 'UDP is blocked on this network';

/**
 * Predicts the page load time under HTTP/1.1, HTTP/2 and HTTP/3 and the best protocol of each origin.
 *
 * A protocol's prediction applies it to every origin, as if all offered it; the assignment keeps to
 * what each origin offers. The same input gives the same answer, but for `elapsedMs`.
 *
 * @throws EmulationError when a given figure is out of range
 */
export function predict(recording: Recording, options: PredictOptions = {}): Prediction {
  const startedAt = Date.now();
  const graph = buildGraph(recording);
  const { path, servers, sources } = withoutQueueLoss(
    graph,
    knownNetwork(estimateNetwork(recording), options),
  );
  const choice = choose(graph, path, servers, sources, options.seeds ?? DEFAULT_SEEDS);

  const protocols = {} as Record<Protocol, LoadTime | Unavailable>;
  const waterfall: Partial<Record<Protocol, WaterfallEntry[]>> = {};
  for (const protocol of PROTOCOLS) {
    const run = choice.uniform.find((candidate) => candidate.protocol === protocol);
    if (run === undefined) {
      protocols[protocol] = { unavailable: UDP_BLOCKED };
      continue;
    }
    protocols[protocol] = loadTime(run.pltMs);
    const scenario = choice.scenarios[nearest(run.pltMs, median(run.pltMs))]!;
    waterfall[protocol] = emulate(graph, scenario.path, servers, uniformAssignment(graph, protocol), {
      seed: scenario.seed,
      waterfall: true,
    }).entries;
  }
  return {
    page: pageOf(graph),
    network: {
      rttMs: path.rttMs,
      downMbps: path.downBps / 1e6,
      upMbps: path.upBps / 1e6,
      loss: path.loss,
      udp: path.udp.kind === 'policed' ? path.udp.bps / 1e6 : path.udp.kind,
      queueBytes: path.queueBytes,
      source: publicSources(sources),
    },
    observed: { pltMs: recording.pltMs, protocols: observedProtocols(recording) },
    protocols,
    best: choice.best,
    margin: choice.margin,
    confidence: choice.confidence,
    decided: choice.decided,
    reasons: choice.reasons,
    assignment: choice.assignment,
    assignedPltMs: choice.assignedPltMs,
    origins: choice.origins,
    waterfall,
    elapsedMs: Date.now() - startedAt,
  };
}

/** Puts what is given and measured over the estimate. */
export function knownNetwork(estimate: NetworkEstimate, options: PredictOptions): NetworkEstimate {
  const path = { ...estimate.path };
  const sources = { ...estimate.sources };
  const take = (known: KnownNetwork | undefined, source: FigureSource) => {
    for (const [figure, value] of Object.entries(known ?? {})) {
      if (value === undefined) continue;
      Object.assign(path, { [figure]: value });
      sources[figure as NetworkFigure] = source;
    }
  };
  take(options.measured, 'measured');
  take(options.network, 'given');
  // An assumed queue belongs to the rate and round trip that are in force.
  if (sources.queueBytes === 'assumed') path.queueBytes = assumedQueueBytes(path.downBps, path.rttMs);
  const known = new Map((options.servers ?? []).map((server) => [server.origin, server]));
  const servers = estimate.servers.map((server) => ({ ...server, ...known.get(server.origin) }));
  return { path, servers, sources };
}

/** Loss as transfers over TCP met it has the drops of the queue in it. */
function withoutQueueLoss(graph: PageGraph, network: NetworkEstimate): NetworkEstimate {
  const { path, servers, sources } = network;
  if (sources.loss !== 'measured') return network;
  const loads = [uniformAssignment(graph, 'h1'), uniformAssignment(graph, 'h2')];
  return { ...network, path: { ...path, loss: randomLoss(graph, path, servers, loads, path.loss) } };
}

function pageOf(graph: PageGraph): Prediction['page'] {
  let requests = 0;
  let bytes = 0;
  for (const activity of graph.activities) {
    if (activity.kind !== 'fetch') continue;
    requests++;
    bytes += activity.responseBytes;
  }
  return { url: graph.url, requests, origins: graph.origins.length, bytes };
}

function publicSources(sources: Record<NetworkFigure, FigureSource>): Prediction['network']['source'] {
  return {
    rttMs: sources.rttMs,
    downMbps: sources.downBps,
    upMbps: sources.upBps,
    loss: sources.loss,
    udp: sources.udp,
    queueBytes: sources.queueBytes,
  };
}

function observedProtocols(recording: Recording): Partial<Record<Protocol, number>> {
  const counts: Partial<Record<Protocol, number>> = {};
  for (const { protocol, fromCache } of recording.requests) {
    if (protocol !== null && !fromCache) counts[protocol] = (counts[protocol] ?? 0) + 1;
  }
  return counts;
}

function nearest(values: readonly number[], to: number): number {
  let best = 0;
  for (const [index, value] of values.entries()) {
    if (Math.abs(value - to) < Math.abs(values[best]! - to)) best = index;
  }
  return best;
}

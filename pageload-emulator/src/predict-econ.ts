import type { Prediction, Recording, Unavailable } from '@hopwise/contract';
import type { FlowConditions } from './econ/flow-conditions.ts';
import { type EconProtocol, loadByEcon } from './econ/load-protocols.ts';
import type { LossByConnections } from './econ/loss-by-connections.ts';
import type { EconLoad, EconTrajectory } from './econ/page-load.ts';
import type { NetworkEstimate } from './estimate/estimate-network.ts';
import type { NetworkKnowledge } from './estimate/posterior-input.ts';
import { readPage } from './estimate/read-page.ts';
import type { PageGraph } from './graph/page-graph.ts';
import { networkFigures, observedProtocols, pageOf } from './predict.ts';

/** What ECON's predictions depend on beside the recording. */
export interface EconPredictOptions extends NetworkKnowledge {
  /** p(cwnd, npc); when absent, packets (or bursts of them) are lost independently at the path's loss. */
  loss?: LossByConnections;
  /** Default `cubic`. */
  congestionControl?: FlowConditions['congestionControl'];
  /** What `estimateNetwork` returns for the recording, if it was called before. */
  estimate?: NetworkEstimate;
}

/** Load time of one protocol. ECON gives a mean: no range and no paints. */
interface EconTime {
  /** navigationStart to loadEventEnd, milliseconds, mean. */
  pltMs: number;
  low: null;
  high: null;
  firstContentfulPaintMs: null;
  largestContentfulPaintMs: null;
}

/** ECON's answer in the shape of a `Prediction`; what ECON does not model is null or absent. */
export interface EconPrediction
  extends Pick<Prediction, 'page' | 'network' | 'observed' | 'notes' | 'elapsedMs'> {
  model: 'econ';
  protocols: Record<'h1' | 'h2', EconTime> & { h3: Unavailable };
  best: EconProtocol;
  /** Gain of `best` over the other one, as a fraction of the other one's time. */
  margin: number;
  confidence: null;
  decided: null;
}

/** Why ECON's load times are what they are. */
export interface EconExplanation extends Omit<EconPrediction, 'protocols' | 'observed'> {
  protocols: Record<'h1' | 'h2', EconTime & EconProtocolLoad> & { h3: Unavailable };
}

/** What one load consists of: that of the trajectory in the middle. Times are milliseconds after navigationStart. */
interface EconProtocolLoad {
  /** Load time of that trajectory. */
  explainedPltMs: number;
  connections: { origin: string; readyMs: number; requests: number; bytes: number; lostSegments: number }[];
  transfers: {
    requestId: number;
    url: string;
    bytes: number;
    /** Index into `connections`. */
    connection: number;
    askedMs: number;
    sentMs: number;
    endMs: number;
  }[];
}

const H3: Unavailable = { unavailable: 'ECON has no model of HTTP/3' };

/** Predicts the page load time under HTTP/1.1 and HTTP/2 by ECON's closed sums in place of the page emulator. */
export function predictEcon(recording: Recording, options: EconPredictOptions = {}): EconPrediction {
  return loadEcon(recording, options).prediction;
}

/** Explains ECON's loads: connections, losses and transfer times of the trajectory in the middle. */
export function explainEcon(recording: Recording, options: EconPredictOptions = {}): EconExplanation {
  const { prediction, graph, loads } = loadEcon(recording, options);
  const { observed: _, protocols, ...rest } = prediction;
  const explained = (protocol: EconProtocol) => ({
    ...protocols[protocol],
    ...describe(graph, loads[protocol].middle),
  });
  return { ...rest, protocols: { h1: explained('h1'), h2: explained('h2'), h3: H3 } };
}

function loadEcon(
  recording: Recording,
  { loss, congestionControl = 'cubic', estimate, ...knowledge }: EconPredictOptions,
): { prediction: EconPrediction; graph: PageGraph; loads: Record<EconProtocol, EconLoad> } {
  const startedAt = Date.now();
  const { graph, network } = readPage(recording, knowledge, estimate);
  const load = (protocol: EconProtocol): EconLoad =>
    loadByEcon(graph, network.path, network.servers, { loss, congestionControl }, protocol);
  const loads = { h1: load('h1'), h2: load('h2') };
  const [best, other]: EconProtocol[] = loads.h1.pltMs < loads.h2.pltMs ? ['h1', 'h2'] : ['h2', 'h1'];
  const prediction: EconPrediction = {
    model: 'econ',
    page: pageOf(graph),
    network: networkFigures(network),
    observed: { pltMs: recording.pltMs, protocols: observedProtocols(recording) },
    protocols: { h1: timeOf(loads.h1), h2: timeOf(loads.h2), h3: H3 },
    best: best!,
    margin: 1 - loads[best!].pltMs / loads[other!].pltMs,
    confidence: null,
    decided: null,
    notes: [],
    elapsedMs: Date.now() - startedAt,
  };
  return { prediction, graph, loads };
}

const timeOf = ({ pltMs }: EconLoad): EconTime => ({
  pltMs,
  low: null,
  high: null,
  firstContentfulPaintMs: null,
  largestContentfulPaintMs: null,
});

function describe(graph: PageGraph, { pltMs, connections, transfers }: EconTrajectory): EconProtocolLoad {
  return {
    explainedPltMs: pltMs,
    connections: connections.map(({ origin, ...figures }) => ({
      origin: graph.origins[origin]!,
      ...figures,
    })),
    transfers: transfers.map(({ activity, ...times }) => {
      const fetch = graph.activities[activity]!;
      if (fetch.kind !== 'fetch') throw new RangeError(`activity ${activity} transfers nothing`);
      return { requestId: fetch.requestId, url: fetch.url, bytes: fetch.responseBytes, ...times };
    }),
  };
}

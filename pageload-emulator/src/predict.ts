import type {
  FigureSource,
  KnownNetwork,
  KnownServer,
  Language,
  MeasuredNetwork,
  NetworkFigure,
  OriginRecommendation,
  Prediction,
  Recording,
  Unavailable,
  WaterfallEntry,
} from '@hopwise/contract';
import { PROTOCOLS, type Protocol } from '@hopwise/contract';
import { type Choice, choose } from './choose/choose.ts';
import type { OriginChoice } from './choose/origin-choice.ts';
import { askWhatIf } from './choose/what-if.ts';
import { decide } from './decide/decide.ts';
import type { Knowledge } from './decide/knowledge.ts';
import { networkPosterior } from './estimate/build-posterior.ts';
import type { NetworkCluster } from './estimate/network-cluster.ts';
import type { NetworkPosterior } from './estimate/network-posterior.ts';
import { isRecordedElsewhere } from './estimate/recorded-elsewhere.ts';
import { assignmentReason } from './explain/assignment-reason.ts';
import { explainProtocol, type ProtocolExplanation } from './explain/explain.ts';
import { omissionNotes } from './explain/omission-notes.ts';
import { originReason } from './explain/origin-reason.ts';
import { pageReasons } from './explain/page-reasons.ts';
import type { Sentences } from './explain/sentences/english.ts';
import { SENTENCES } from './explain/sentences/languages.ts';
import { changeInWords } from './explain/server-change-words.ts';
import { unavailableClause } from './explain/unavailable-clause.ts';
import { wordDecision } from './explain/verdict.ts';
import { buildGraph } from './graph/build-graph.ts';
import type { PageGraph } from './graph/page-graph.ts';
import { PaintModel } from './graph/paint-times.ts';
import type { Interval } from './network/log-density.ts';
import type { ServerChange } from './network/server-change.ts';
import { udpNotation } from './network/udp-notation.ts';
import { drawNetworks } from './scenarios/draw-networks.ts';
import type { Question } from './scenarios/question.ts';

export interface PredictOptions {
  /** Figures of the network that are certain, for instance those of another network to ask about. */
  network?: KnownNetwork;
  /** Figures that real transfers showed; `network` takes precedence. */
  measured?: MeasuredNetwork;
  /** Number of scenarios (networks around the estimate, and losses); as many as the prediction needs when absent. */
  seeds?: number;
  /** Known fields of single servers, which replace the estimated ones; matched by `origin`. */
  servers?: KnownServer[];
  /** What earlier loads on the same network showed (`learnNetwork`). */
  cluster?: NetworkCluster | null;
  /** Whether to search longer for the best assignment of many origins. Default false. */
  thorough?: boolean;
  /** Whether to return the predicted waterfall of each protocol. Default false. */
  waterfall?: boolean;
  /** Transfers, measured loads and the earlier decision, for the decision. */
  knowledge?: Knowledge;
  /** Also predicts the load times with changed servers. */
  whatIf?: ServerChange;
  /** Of the verdict, reasons and notes. Default `en`. */
  language?: Language;
}

/** A prediction with the reasons for each protocol's load time. */
export interface Explanation
  extends Pick<
    Prediction,
    'page' | 'network' | 'decision' | 'best' | 'margin' | 'confidence' | 'decided' | 'reasons' | 'notes'
  > {
  protocols: Record<Protocol, ProtocolExplanation | Unavailable>;
  assigned: Prediction['assigned'];
  whatIf?: Prediction['whatIf'];
  elapsedMs: number;
}

/**
 * Predicts the page load time under HTTP/1.1, HTTP/2 and HTTP/3 and the best protocol of each origin.
 *
 * A protocol's prediction applies it to every origin, as if all offered it; the assignment uses only what each origin offers.
 * Equal inputs give equal predictions, except for `elapsedMs`.
 *
 * @throws EmulationError when a given figure is out of range, or the page does not load on the network
 */
export function predict(recording: Recording, options: PredictOptions = {}): Prediction {
  return predictPage(recording, options).prediction;
}

/**
 * Explains the predicted loads: for each protocol the critical path, connections, losses and waits of its load in the scenario
 * of median load time. The stories are in English.
 *
 * @throws EmulationError when a given figure is out of range, or the page does not load on the network
 */
export function explain(recording: Recording, options: PredictOptions = {}): Explanation {
  const startedAt = Date.now();
  const { prediction, graph, choice } = predictPage(recording, options);
  const { page, network, decision, best, margin, confidence, decided, reasons, notes, assigned, whatIf } =
    prediction;
  return {
    page,
    network,
    decision,
    best,
    margin,
    confidence,
    decided,
    reasons,
    protocols: byProtocol(choice, SENTENCES.en, (protocol) => explainProtocol(graph, choice, protocol)),
    assigned,
    notes,
    ...(whatIf && { whatIf }),
    elapsedMs: Date.now() - startedAt,
  };
}

/** Builds the question that `choose` answers from a recording and other knowledge. */
export function pageQuestion(
  recording: Recording,
  options: PredictOptions,
): { question: Question; network: NetworkPosterior } {
  const graph = buildGraph(recording);
  const { network: given, measured, servers, cluster } = options;
  const network = networkPosterior(recording, graph, { given, measured, servers, cluster });
  const question: Question = {
    graph,
    paint: new PaintModel(recording, graph),
    path: network.path,
    servers: network.servers,
    scenarios: (count) => drawNetworks(network, count),
    ...(options.seeds !== undefined && { seeds: options.seeds }),
    ...(options.thorough !== undefined && { thorough: options.thorough }),
  };
  return { question, network };
}

function predictPage(
  recording: Recording,
  options: PredictOptions,
): { prediction: Prediction; graph: PageGraph; choice: Choice } {
  const startedAt = Date.now();
  const sentences = SENTENCES[options.language ?? 'en'];
  const { question, network } = pageQuestion(recording, options);
  const { graph } = question;
  const choice = choose(question);
  const { joint } = choice;
  const isOtherNetwork = options.network !== undefined && isRecordedElsewhere(recording, options.network);
  const knowledge: Knowledge = { isOtherNetwork, ...options.knowledge };
  const decision = wordDecision(decide({ recording, question, choice }, knowledge), knowledge, sentences);
  const waterfall: Partial<Record<Protocol, WaterfallEntry[]>> = {};
  if (options.waterfall) {
    for (const { protocol } of choice.uniform) waterfall[protocol] = choice.traced(protocol).load.entries;
  }
  const prediction: Prediction = {
    page: pageOf(graph),
    network: networkFigures(network),
    decision,
    observed: { pltMs: recording.pltMs, protocols: observedProtocols(recording) },
    protocols: byProtocol(choice, sentences, (protocol) => choice.times[protocol]!),
    best: choice.best,
    margin: choice.margin,
    confidence: choice.confidence,
    decided: choice.decided,
    reasons: pageReasons(question, choice, sentences),
    assignment: joint.assignment,
    assignedPltMs: joint.assigned.pltMs,
    assigned: { ...joint.assigned, reason: assignmentReason(joint, graph.origins.length, sentences) },
    origins: choice.origins.map((each) => recommendationOf(each, question, choice, sentences)),
    notes: omissionNotes(choice.omissions, sentences),
    ...(options.whatIf && { whatIf: whatIfOf(graph, choice, options.whatIf, sentences) }),
    waterfall,
    elapsedMs: Date.now() - startedAt,
  };
  return { prediction, graph, choice };
}

function byProtocol<T>(
  choice: Choice,
  sentences: Sentences,
  of: (protocol: Protocol) => T,
): Record<Protocol, T | Unavailable> {
  return Object.fromEntries(
    PROTOCOLS.map((protocol) => [
      protocol,
      choice.times[protocol] === undefined
        ? { unavailable: unavailableClause(choice.unavailable[protocol]!, sentences) }
        : of(protocol),
    ]),
  ) as Record<Protocol, T | Unavailable>;
}

function whatIfOf(
  graph: PageGraph,
  choice: Choice,
  asked: ServerChange,
  sentences: Sentences,
): NonNullable<Prediction['whatIf']> {
  const times = askWhatIf(graph, choice.uniform, choice.scenarios, asked);
  return {
    change: changeInWords(asked),
    protocols: byProtocol(choice, sentences, (protocol) => times[protocol]!),
  };
}

function recommendationOf(
  origin: OriginChoice,
  question: Question,
  choice: Choice,
  sentences: Sentences,
): OriginRecommendation {
  return {
    origin: origin.origin,
    requests: origin.requests,
    bytes: origin.bytes,
    protocol: origin.protocol,
    margin: origin.margin,
    confidence: origin.confidence,
    pltMs: origin.pltMs,
    reason: originReason(origin, question, choice, sentences),
    decided: origin.decided,
  };
}

/** A network as answers give it. */
export function networkFigures(network: NetworkPosterior): Prediction['network'] {
  const { path, sources, udp } = network;
  return {
    rttMs: path.rttMs,
    downMbps: path.downBps / 1e6,
    upMbps: path.upBps / 1e6,
    loss: path.loss,
    lossBurst: path.lossBurst,
    udp: udpNotation(path.udp),
    queueBytes: path.queueBytes,
    ranges: rangesOf(network),
    udpShares: udp,
    source: publicSources(sources),
  };
}

/** A page as answers give it. */
export function pageOf(graph: PageGraph): Prediction['page'] {
  let requests = 0;
  let bytes = 0;
  for (const activity of graph.activities) {
    if (activity.kind !== 'fetch') continue;
    requests++;
    bytes += activity.responseBytes;
  }
  return { url: graph.url, requests, origins: graph.origins.length, bytes };
}

function rangesOf({ intervals }: NetworkPosterior): Prediction['network']['ranges'] {
  const range = ({ low, high }: Interval, unit = 1) => ({ low: low / unit, high: high / unit });
  return {
    rttMs: range(intervals.rttMs),
    downMbps: range(intervals.downBps, 1e6),
    upMbps: range(intervals.upBps, 1e6),
    loss: range(intervals.loss),
    lossBurst: range(intervals.lossBurst),
    queueBytes: range(intervals.queueBytes),
  };
}

function publicSources(sources: Record<NetworkFigure, FigureSource>): Prediction['network']['source'] {
  return {
    rttMs: sources.rttMs,
    downMbps: sources.downBps,
    upMbps: sources.upBps,
    loss: sources.loss,
    lossBurst: sources.lossBurst,
    udp: sources.udp,
    queueBytes: sources.queueBytes,
  };
}

/** Requests of the recorded load by protocol. */
export function observedProtocols(recording: Recording): Partial<Record<Protocol, number>> {
  const counts: Partial<Record<Protocol, number>> = {};
  for (const { protocol, fromCache } of recording.requests) {
    if (protocol !== null && !fromCache) counts[protocol] = (counts[protocol] ?? 0) + 1;
  }
  return counts;
}

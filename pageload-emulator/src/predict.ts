import type {
  Decision,
  EmulatedAnswer,
  FigureSource,
  Language,
  NetworkFigure,
  OriginRecommendation,
  Prediction,
  ProtocolPrediction,
  Recording,
  Unavailable,
  WaterfallEntry,
} from '@hopwise/contract';
import { PREDICTION_SCHEMA, PROTOCOLS, type Protocol } from '@hopwise/contract';
import { type Choice, choose } from './choose/choose.ts';
import type { OriginChoice } from './choose/origin-choice.ts';
import { askWhatIf } from './choose/what-if.ts';
import { decide } from './decide/decide.ts';
import type { Knowledge } from './decide/knowledge.ts';
import { standingOf } from './decide/standing.ts';
import { EndlessLoadError } from './emulate/emulate.ts';
import type { NetworkEstimate } from './estimate/estimate-network.ts';
import type { NetworkPosterior } from './estimate/network-posterior.ts';
import type { NetworkKnowledge } from './estimate/posterior-input.ts';
import { readPage } from './estimate/read-page.ts';
import { serversBy } from './estimate/verification-figures.ts';
import { assignmentReason } from './explain/assignment-reason.ts';
import { explainProtocol, type ProtocolExplanation } from './explain/explain.ts';
import { describeFit } from './explain/fit-words.ts';
import { omissionNotes, unavailableClause } from './explain/omission-notes.ts';
import { originReason } from './explain/origin-reason.ts';
import { pageReasons } from './explain/page-reasons.ts';
import type { Sentences } from './explain/sentences/english.ts';
import { SENTENCES } from './explain/sentences/languages.ts';
import { changeInWords } from './explain/server-change-words.ts';
import { describeDecision } from './explain/verdict.ts';
import type { PageGraph } from './graph/page-graph.ts';
import { PaintModel } from './graph/paint-times.ts';
import type { Interval } from './network/log-density.ts';
import type { ServerChange } from './network/server-change.ts';
import { udpNotation } from './network/udp-notation.ts';
import { drawNetworks } from './scenarios/draw-networks.ts';
import { scalePaints, withEmulatedChange } from './scenarios/load-time.ts';
import type { Question } from './scenarios/question.ts';

export interface PredictOptions extends Omit<NetworkKnowledge, 'pinned'> {
  /** What `estimateNetwork` returns for the recording, if it was called before. */
  estimate?: NetworkEstimate;
  /** Number of scenarios (networks around the estimate, and losses); as many as the prediction needs when absent. */
  seeds?: number;
  /** Whether to search longer for the best assignment of many origins. Default false. */
  thorough?: boolean;
  /** Whether to return the predicted waterfall of each protocol. Default false. */
  waterfall?: boolean;
  /** Transfers, measured loads and the earlier decision, for the decision. */
  knowledge?: Knowledge;
  /** Also predicts the load times with changed servers. */
  whatIf?: ServerChange;
  /** Language of the verdict, reasons and notes. Default `en`. */
  language?: Language;
}

/** A prediction with the reasons for each protocol's load time. */
export interface Explanation
  extends Pick<
    Prediction,
    | 'schema'
    | 'page'
    | 'network'
    | 'decision'
    | 'fit'
    | 'best'
    | 'margin'
    | 'confidence'
    | 'decided'
    | 'reasons'
    | 'notes'
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
  const { prediction, question, choice } = predictPage(recording, options);
  const {
    assignment: _,
    assignedPltMs: _assignedPltMs,
    emulated: _emulated,
    observed: _observed,
    origins: _origins,
    waterfall: _waterfall,
    ...answer
  } = prediction;
  return {
    ...answer,
    protocols: byProtocol(choice, SENTENCES.en, (protocol) =>
      explainProtocol(question.graph, choice, protocol, prediction.protocols[protocol] as ProtocolPrediction),
    ),
    elapsedMs: Date.now() - startedAt,
  };
}

/** Builds the question that `choose` answers from a recording and other knowledge. */
export function pageQuestion(
  recording: Recording,
  options: PredictOptions,
): { question: Question; network: NetworkPosterior } {
  const { graph, network } = readPage(
    recording,
    { ...options, pinned: options.knowledge?.pinned },
    options.estimate,
  );
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

/** @throws EndlessLoadError in the prediction's language when the page loads under no protocol */
function chooseFor(question: Question, { endless }: Sentences): Choice {
  try {
    return choose(question);
  } catch (error) {
    if (!(error instanceof EndlessLoadError)) throw error;
    throw new EndlessLoadError(endless(error.afterMs), error.afterMs);
  }
}

/** A prediction with the question that it answers and its numbers. */
export function predictPage(
  recording: Recording,
  options: PredictOptions,
): { prediction: Prediction; question: Question; choice: Choice } {
  const startedAt = Date.now();
  const sentences = SENTENCES[options.language ?? 'en'];
  const verification = options.knowledge?.verification;
  const servers = [...(verification ? serversBy(verification) : []), ...(options.servers ?? [])];
  const { question, network } = pageQuestion(recording, { ...options, servers });
  const { graph } = question;
  const choice = chooseFor(question, sentences);
  const knowledge: Knowledge = { isOtherNetwork: network.isElsewhere, ...options.knowledge };
  const decided = decide({ recording, question, network, choice }, knowledge);
  const { assigned, origins, untriedOrigins } = decided;
  const decision = describeDecision(decided, knowledge, sentences);
  const standing = standingOf(decision);
  const waterfall: Partial<Record<Protocol, WaterfallEntry[]>> = {};
  if (options.waterfall) {
    for (const { protocol } of choice.uniform) waterfall[protocol] = choice.traced(protocol).load.entries;
  }
  const prediction: Prediction = {
    schema: PREDICTION_SCHEMA,
    page: pageOf(graph),
    network: networkFigures(network),
    decision,
    fit: describeFit(decided.fit, sentences),
    observed: { pltMs: recording.pltMs, protocols: observedProtocols(recording) },
    protocols: byProtocol(choice, sentences, (protocol) => protocolTime(protocol, decision, choice)),
    best: standing.best,
    margin: standing.margin,
    confidence: standing.confidence,
    decided: standing.decided,
    emulated: emulatedAnswer(choice, sentences),
    reasons: pageReasons(
      question,
      choice,
      { ...standing, avoidedPolicer: decided.avoidedPolicer, isUdpShown: decided.isUdpShown },
      sentences,
    ),
    assignment: assigned.assignment,
    assignedPltMs: assigned.assigned.pltMs,
    assigned: { ...assigned.assigned, reason: assignmentReason(assigned, graph.origins.length, sentences) },
    origins: origins.map((each) => recommendationOf(each, question, choice, sentences)),
    notes: omissionNotes(choice.omissions, untriedOrigins, network.leftOutTrips, sentences),
    ...(options.whatIf && { whatIf: whatIfOf(graph, choice, decision, options.whatIf, sentences) }),
    waterfall,
    elapsedMs: Date.now() - startedAt,
  };
  return { prediction, question, choice };
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

/** A protocol's time as the decision has it, with its paints. */
function protocolTime(protocol: Protocol, { protocols }: Decision, { times }: Choice): ProtocolPrediction {
  const [emulated, decided] = [times[protocol]!, protocols[protocol]!];
  return { ...decided, ...scalePaints(emulated, emulated.pltMs, decided.pltMs) };
}

function emulatedAnswer(choice: Choice, sentences: Sentences): EmulatedAnswer {
  const { best, margin, confidence, decided } = choice;
  const protocols = byProtocol(choice, sentences, (protocol) => choice.times[protocol]!);
  return { protocols, best, margin, confidence, decided };
}

function whatIfOf(
  graph: PageGraph,
  choice: Choice,
  decision: Decision,
  asked: ServerChange,
  sentences: Sentences,
): NonNullable<Prediction['whatIf']> {
  const times = askWhatIf(graph, choice.uniform, choice.scenarios, asked);
  return {
    change: changeInWords(asked),
    protocols: byProtocol(choice, sentences, (protocol) => {
      const present = decision.protocols[protocol]!;
      const emulatedMs = choice.times[protocol]!.pltMs;
      const changed = withEmulatedChange(present, emulatedMs, emulatedMs * (1 + times[protocol]!.change));
      return { ...changed, change: changed.pltMs / present.pltMs - 1 };
    }),
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

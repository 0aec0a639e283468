/**
 * Predicts page load time under HTTP/1.1, HTTP/2 and HTTP/3 from one recording: `predict(parseRecording(text))`. Pure
 * functions: no DOM, no Node API, and no clock except for `elapsedMs`.
 */

export type * from '@hopwise/contract';
export { PROTOCOL_NAME, PROTOCOLS } from '@hopwise/contract';
export { type HeadLink, linkTag } from './advise/head-links.ts';
export { ADVISED_INITIAL_WINDOW, type AdviceKind, type Visit } from './advise/improvements.ts';
export { MEASURED_GAINS, type MeasuredGain } from './advise/measured-gains.ts';
export { isEnough, keepsPromise, MIN_GAIN, type Proof, proofOf } from './advise/proof.ts';
export {
  type AdviseOptions,
  adviseHeadLinks,
  adviseServers,
  adviseServersInSteps,
  gainOfAdvice,
  type ServerAdvice,
  type ServerAdviceList,
} from './advise-servers.ts';
export { type CheckedFigures, type Judgement, judgeFigures } from './check/breaches.ts';
export { type Budget, checkLimits, type Limits, limitsOn, parseBudget } from './check/budget.ts';
export { checkPage, type PageCheck, shareOnBest } from './check-page.ts';
export type { ClientCosts } from './client/client-costs.ts';
export type { Hold } from './client/low-priority-gate.ts';
export { experienceOf, fastestByExperience, type LogRatio } from './decide/experience.ts';
export type { Knowledge } from './decide/knowledge.ts';
export {
  assignmentsToVerify,
  plannedAction,
  plannedBaseline,
  verifiedUnder,
} from './decide/verified-rounds.ts';
export type { FlowConditions } from './econ/flow-conditions.ts';
export { bottleneckShare } from './econ/flow-conditions.ts';
export { FlowLatency } from './econ/flow-latency.ts';
export { lossByClimb } from './econ/loss-by-climb.ts';
export { type LossByConnections, lossByConnections } from './econ/loss-by-connections.ts';
export { lossByRound } from './econ/loss-by-round.ts';
export { lossBySegment } from './econ/loss-by-segment.ts';
export type { LossByWindow } from './econ/loss-by-window.ts';
export { objectsLatencyMs } from './econ/objects-latency.ts';
export {
  parsePcwnd,
  parsePcwndCounts,
  type WindowCount,
  type WindowLoss,
} from './econ/pcwnd-files.ts';
export { periodThroughput } from './econ/period-throughput.ts';
export { type SenderState, segmentsAhead } from './econ/segments-ahead.ts';
export type { SlowStartFrom } from './econ/slow-start.ts';
export { type SteadyState, steadyThroughput } from './econ/steady-throughput.ts';
export {
  highestBitrate,
  type Representation,
  type TimedRepresentation,
  type VideoChoice,
} from './econ/video-bitrate.ts';
export {
  type Emulated,
  type EmulateOptions,
  EmulationError,
  emulate,
  type OriginOutcome,
} from './emulate/emulate.ts';
export { networkPosterior } from './estimate/build-posterior.ts';
export { estimateNetwork, type NetworkEstimate } from './estimate/estimate-network.ts';
export { learnNetwork } from './estimate/learn-network.ts';
export { type NetworkCluster, parseCluster } from './estimate/network-cluster.ts';
export { measuredBy } from './estimate/verification-figures.ts';
export { ADVICE_CAVEATS, ADVICE_WORDS } from './explain/advice-words.ts';
export {
  CAUSE_WORDS,
  type ExplainedConnection,
  type ProtocolExplanation,
} from './explain/explain.ts';
export { SERVER_KINDS, SERVER_SNIPPETS, type ServerKind } from './explain/server-snippets.ts';
export { promisingAction } from './explain/verdict.ts';
export { duration, durations, durationsIn } from './explain/words.ts';
export { buildGraph } from './graph/build-graph.ts';
export type * from './graph/page-graph.ts';
export { transferPlan } from './graph/transfer-plan.ts';
export type { OriginCounters } from './http/origin-client.ts';
export {
  knownFrom,
  NETWORK_FLAGS,
  type NetworkFlag,
  type NetworkFlagValues,
} from './network/network-flags.ts';
export { type NamedNetwork, parseNetworks } from './network/network-list.ts';
export { SEGMENT_BYTES, SEGMENT_WIRE_BYTES } from './network/packet.ts';
export { changeServers, type ServerChange } from './network/server-change.ts';
export { udpNotation, udpTreatment } from './network/udp-notation.ts';
export { type Explanation, explain, type PredictOptions, predict } from './predict.ts';
export {
  type EconExplanation,
  type EconPrediction,
  type EconPredictOptions,
  type EconProtocol,
  type EconProtocolLoad,
  type EconTime,
  explainEcon,
  predictEcon,
} from './predict-econ.ts';
export { handshakeTrips, type RoundTrip } from './recording/handshake-trips.ts';
export type { ReadRecording } from './recording/har.ts';
export { JsonBytes } from './recording/json-bytes.ts';
export { parseRecording, readRecording } from './recording/parse.ts';
export { parseProtocol } from './recording/protocol-name.ts';
export { parseVerification } from './recording/verification-file.ts';
export { CAUSES, type Cause, type CriticalStep } from './trace/critical-path.ts';
export type { LossCause, Trace } from './transport/trace.ts';
export { InputError } from './util/input-error.ts';
export { originOf } from './util/url.ts';

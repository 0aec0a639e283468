/**
 * Predicts page load time under HTTP/1.1, HTTP/2 and HTTP/3 from one recording: `predict(parseRecording(text))`. Pure
 * functions: no DOM, no Node API, and no clock except for `elapsedMs`.
 */

export type * from '@hopwise/contract';
export { PREDICTION_SCHEMA, PROTOCOL_NAME, PROTOCOLS } from '@hopwise/contract';
export { type HeadLink, linkTag } from './advise/head-links.ts';
export { ADVISED_INITIAL_WINDOW, type AdviceKind } from './advise/improvements.ts';
export { MEASURED_GAINS, type MeasuredGain } from './advise/measured-gains.ts';
export { isEnough, keepsPromise, MIN_GAIN, proofOf } from './advise/proof.ts';
export {
  type AdviseOptions,
  adviseHeadLinks,
  adviseServers,
  adviseServersInSteps,
  gainOfAdvice,
  type ServerAdvice,
  type ServerAdviceList,
} from './advise-servers.ts';
export { type Judgement, judgeFigures, unjudgedLimits } from './check/breaches.ts';
export { type Budget, checkLimits, type Limits, limitsOn, parseBudget } from './check/budget.ts';
export { checkPage, type PageCheck } from './check-page.ts';
export { CHROMIUM_COSTS, type ClientCosts } from './client/client-costs.ts';
export { experienceOf, fastestByExperience, REFERENCE_RTT_MS } from './decide/experience.ts';
export type { Knowledge } from './decide/knowledge.ts';
export { LOAD_NOISE } from './decide/observations.ts';
export { promisingAction } from './decide/pick-action.ts';
export { fastestProtocols } from './decide/standing.ts';
export {
  assignmentsToVerify,
  plannedAction,
  plannedBaseline,
  verifiedUnder,
} from './decide/verified-rounds.ts';
export {
  EmulationError,
  emulate,
} from './emulate/emulate.ts';
export { estimateNetwork, type NetworkEstimate } from './estimate/estimate-network.ts';
export { isTelling, learnForSite, showsUdp } from './estimate/learn-for-site.ts';
export { learnNetwork } from './estimate/learn-network.ts';
export { isShownOpen, type NetworkCluster, parseCluster } from './estimate/network-cluster.ts';
export { networkPosterior } from './estimate/network-posterior.ts';
export { type NetworkWitnesses, poolClusters, poolForSite } from './estimate/pool-clusters.ts';
export { type ReadPage, readPage } from './estimate/read-page.ts';
export { measuredBy } from './estimate/verification-figures.ts';
export { ADVICE_CAVEATS, ADVICE_WORDS } from './explain/advice-words.ts';
export {
  CAUSE_WORDS,
  type ExplainedConnection,
  type ProtocolExplanation,
} from './explain/explain.ts';
export { SERVER_KINDS, SERVER_SNIPPETS, type ServerKind } from './explain/server-snippets.ts';
export {
  isLong,
  type ReasonToLeave,
  reasonToLeave,
  surenessOf,
  timeByItself,
  withMeasuredMedians,
} from './explain/verdict.ts';
export { durationsIn, lossIn } from './explain/words.ts';
export { buildGraph } from './graph/build-graph.ts';
export {
  MAX_CHECK_BYTES,
  MIN_CHECK_BYTES,
  planCheckOf,
  planChecks,
  planNetworkCheck,
} from './graph/network-check-plan.ts';
export type * from './graph/page-graph.ts';
export { defaultPriority } from './graph/priorities.ts';
export { transferPlan } from './graph/transfer-plan.ts';
export { NAMED_NETWORKS, NETWORK_NAMES, type NetworkName, namedPath } from './network/named-networks.ts';
export { type NetworkFigures, toPath } from './network/network-figures.ts';
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
export { handshakeTrips } from './recording/handshake-trips.ts';
export { type PageChoice, pageChoice, type ReadOptions } from './recording/har/page-choice.ts';
export type { ReadRecording } from './recording/har.ts';
export { loadEndMs } from './recording/load-requests.ts';
export { type OriginTimings, timingsByOrigin } from './recording/origin-timings.ts';
export { jsonIn, parseRecording, readRecording, withoutNaN } from './recording/parse.ts';
export { countFailures, failedProtocol } from './recording/protocol-failures.ts';
export { parseProtocol } from './recording/protocol-name.ts';
export { RecordingBytes } from './recording/recording-bytes.ts';
export { parseVerification } from './recording/verification-file.ts';
export { withEmulatedChange } from './scenarios/load-time.ts';
export { CAUSES, type Cause, type CriticalStep } from './trace/critical-path.ts';
export { InputError } from './util/input-error.ts';
export { siteKey } from './util/site.ts';
export { originOf } from './util/url.ts';

/**
 * ECON's model of TCP and of page loads (Cao et al., IMC 2019), apart from the page emulator: `predictEcon` and
 * `explainEcon` answer for a recording; the rest are the sums over rounds that they and single flows are made of.
 * Pure functions, as in the main entry point.
 */

export { type ClimbRound, climb } from './econ/climb.ts';
export { type Epoch, epochAfterLoss } from './econ/epoch.ts';
export type { FirstLost } from './econ/first-lost.ts';
export { bottleneckShare, type FlowConditions, transmissionMs } from './econ/flow-conditions.ts';
export { type EconProtocol, type EconSenders, loadByEcon } from './econ/load-protocols.ts';
export { lossByClimb } from './econ/loss-by-climb.ts';
export { type LossByConnections, lossByConnections } from './econ/loss-by-connections.ts';
export { lossByRound } from './econ/loss-by-round.ts';
export { lossBySegment } from './econ/loss-by-segment.ts';
export type { LossByWindow } from './econ/loss-by-window.ts';
export { type EconNetwork, type EconOptions, econPageLoad } from './econ/page-load.ts';
export {
  parsePcwnd,
  parsePcwndCounts,
  type WindowCount,
  type WindowLoss,
} from './econ/pcwnd-files.ts';
export { readLossByWindow } from './econ/read-loss.ts';
export { lossInSlowStart, type SlowStartFrom, slowStartRounds } from './econ/slow-start.ts';
export {
  type EconExplanation,
  type EconPrediction,
  type EconPredictOptions,
  explainEcon,
  predictEcon,
} from './predict-econ.ts';

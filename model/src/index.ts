/** What hopwise learns from measured loads. No browser and no Node interfaces: the extension and the benches supply the data. */

export type { Arm } from './explore/beliefs.ts';
export { type ClusterState, clusterStateSchema, emptyCluster, readCluster } from './explore/cluster-state.ts';
export { type ChoiceReason, type Chosen, Explorer, type ExplorerQuestion } from './explore/explorer.ts';
export { findChange } from './explore/find-change.ts';
export { OBJECTIVES, type Objective } from './explore/objective.ts';
export { ExchangeFeatures, transportOf } from './features/exchange-features.ts';
export { FEATURES } from './features/window-features.ts';
export { judgeSwitch, type SwitchVerdict } from './rollback/judge-switch.ts';
export { MAX_CHECKED_LOADS } from './rollback/sequential-check.ts';
export type { TimedRequest } from './transport/request-costs.ts';
export {
  type TimedTransport,
  type TransportChoice,
  TransportChooser,
} from './transport/transport-chooser.ts';

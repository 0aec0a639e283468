/**
 * Views of a prediction, for the popup, the DevTools panel and reports. These use the plain DOM and no extension API; the
 * controls in this folder, which do, are not exported here.
 */
export {
  type ComparisonRow,
  describeLimits,
  isH3Unoffered,
  type Observed,
  readVerifiedTimes,
  type TimesComparison,
} from './comparison.ts';
export { type ViewOptions, visible } from './dom.ts';
export {
  createDurationFormat,
  formatBytes,
  formatDurations,
  formatGain,
  formatLoss,
  formatMbps,
  formatMs,
  formatOrigin,
  formatShare,
} from './format.ts';
export { findHeadlineTimes, writeHeadline } from './headline.ts';
export { describeNetworkEvidence } from './network-evidence.ts';
export { renderNetwork } from './network-view.ts';
export { adviseOrigins } from './origin-advice.ts';
export { describeRest, type OriginTableOptions, renderOriginTable } from './origin-table.ts';
export { describeRatio } from './pin-gain.ts';
export { renderProtocolChart } from './protocol-chart.ts';
export { renderSummary } from './summary.ts';
export { renderTimesTable } from './times-table.ts';
export { predictedWaterfall, recordedWaterfall, renderWaterfall, type Waterfall } from './waterfall.ts';

/** Views of a prediction, for the popup, the DevTools panel and reports: plain DOM, no extension API. */
export { type Comparison, type Measured, type Observed, verifiedOf } from './comparison.ts';
export type { ViewOptions } from './dom.ts';
export {
  formatBytes,
  formatLoss,
  formatMbps,
  formatMs,
  formatOrigin,
  formatShare,
  PROTOCOL_NAME,
} from './format.ts';
export { renderNetwork } from './network-view.ts';
export { type OriginTableOptions, renderOriginTable } from './origin-table.ts';
export { renderProtocolChart } from './protocol-chart.ts';
export { restsOn } from './network-evidence.ts';
export { headline, renderSummary } from './summary.ts';
export { renderTimesTable } from './times-table.ts';
export { predictedWaterfall, recordedWaterfall, renderWaterfall, type Waterfall } from './waterfall.ts';

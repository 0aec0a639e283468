/** The report of one page as an HTML file that needs nothing else, for `npm start` and the DevTools panel. No extension API. */
export { renderHtml } from './html.ts';
export { pageHead } from './page-head.ts';
export {
  type BaselineReport,
  buildReport,
  type Findings,
  isUnavailable,
  type NetworkAsSet,
  type RepeatedSpread,
  type Report,
  type TimeSpread,
} from './report.ts';

/** How the tables of measured visits write their figures. */

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

/** A ratio as a change, such as `−12.3%`. */
export const change = (ratio: number): string =>
  `${ratio < 1 ? '−' : '+'}${Math.abs(100 * (ratio - 1)).toFixed(1)}%`;

/** A figure, with its 95% interval unless it is of too few visits for one. */
export interface Estimate {
  estimate: number;
  low?: number;
  high?: number;
}

/** A ratio as a change, with its interval where it has one. */
export const showRatio = ({ estimate, low, high }: Estimate): string =>
  low === undefined || high === undefined
    ? change(estimate)
    : `${change(estimate)} (${change(low)} to ${change(high)})`;

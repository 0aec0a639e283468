/** How the tables of measured visits write their figures. */
import type { ConfidenceInterval } from '@hopwise/lab/statistics';

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

/** A ratio as a change, such as `−12.3%`. */
export const change = (ratio: number): string =>
  `${ratio < 1 ? '−' : '+'}${Math.abs(100 * (ratio - 1)).toFixed(1)}%`;

export const interval = ({ estimate, low, high }: ConfidenceInterval): string =>
  `${change(estimate)} (${change(low)} to ${change(high)})`;

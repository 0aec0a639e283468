/** What the loads of one way of loading a page are compared by. */
export const OBJECTIVES = ['median', 'p80', 'p90', 'mean'] as const;
export type Objective = (typeof OBJECTIVES)[number];

/** A load time, in any unit, and how much it counts. */
export interface WeightedTime {
  time: number;
  /** 1 for a load just measured, less for older ones. */
  weight: number;
}

const QUANTILE: Record<Exclude<Objective, 'mean'>, number> = { median: 0.5, p80: 0.8, p90: 0.9 };

/**
 * Computes the value of an objective over weighted load times, in their unit. Between two times a quantile is interpolated, each time standing in
 * the middle of its weight.
 *
 * @param times at least one, with a positive sum of weights
 */
export function evaluate(objective: Objective, times: readonly WeightedTime[]): number {
  const total = times.reduce((sum, { weight }) => sum + weight, 0);
  if (objective === 'mean') return times.reduce((sum, { time, weight }) => sum + time * weight, 0) / total;
  const sorted = times.filter(({ weight }) => weight > 0).sort((a, b) => a.time - b.time);
  const wanted = QUANTILE[objective] * total;
  let below = 0;
  let previous: { time: number; at: number } | null = null;
  for (const { time, weight } of sorted) {
    const at = below + weight / 2;
    if (at >= wanted) {
      if (previous === null) return time;
      return previous.time + ((wanted - previous.at) / (at - previous.at)) * (time - previous.time);
    }
    previous = { time, at };
    below += weight;
  }
  return previous!.time;
}

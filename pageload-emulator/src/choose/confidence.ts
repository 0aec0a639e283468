import type { LoadTime } from '../prediction.ts';
import { normalCdf, quantile } from '../statistics.ts';

/** A gain is worth acting on when it exceeds both, and is likely enough. */
const LEAST_GAIN_SHARE = 0.05;
const LEAST_GAIN_MS = 30;
const LEAST_CONFIDENCE = 0.8;

/**
 * Spread of the emulator's own error in the ratio of two load times, as the standard deviation of its
 * logarithm: of whole pages, where loads in Chromium gave 0.11 with their own noise of 0.07, and of one
 * origin's change, where half of the error is taken to be common to both.
 */
export const PAGE_MODEL_SPREAD = 0.08;
export const ORIGIN_MODEL_SPREAD = 0.04;

/** Median with the 10th and 90th percentile. */
export function loadTime(pltMs: readonly number[]): LoadTime {
  return { pltMs: quantile(pltMs, 0.5)!, low: quantile(pltMs, 0.1)!, high: quantile(pltMs, 0.9)! };
}

/**
 * Probability that the first of several paired samples of load time is the least: over the scenarios,
 * the chance that its lead over each rival exceeds the emulator's own error.
 *
 * @param own load times in the scenarios
 * @param rivals the same scenarios' times of each rival
 * @param modelSpread standard deviation of the logarithm of a ratio
 */
export function probabilityOfLeast(
  own: readonly number[],
  rivals: readonly (readonly number[])[],
  modelSpread: number,
): number {
  let sum = 0;
  for (const [scenario, time] of own.entries()) {
    let chance = 1;
    for (const rival of rivals) chance *= normalCdf(Math.log(rival[scenario]! / time) / modelSpread);
    sum += chance;
  }
  return sum / own.length;
}

/** Whether a lead is enough to act on. */
export function isDecided(bestMs: number, runnerUpMs: number, confidence: number): boolean {
  const gainMs = runnerUpMs - bestMs;
  return gainMs > Math.max(LEAST_GAIN_MS, LEAST_GAIN_SHARE * runnerUpMs) && confidence >= LEAST_CONFIDENCE;
}

import { mean, normalCdf } from '@hopwise/contract';
import { SPREADS } from '../scenarios/spread.ts';

/** A gain decides a choice when it exceeds both minima and is likely enough. */
const MIN_GAIN_SHARE = 0.05;
const MIN_GAIN_MS = 30;
const MIN_CONFIDENCE = 0.8;

/** Nodes and weights of Gauss-Hermite quadrature for a standard normal variate (Abramowitz and Stegun 1964, table 25.10, n = 7). */
const NODES = [0, 1.154405394739968, 2.366759410734541, 3.750439717725742];
const WEIGHTS = [0.457142857142857, 0.240123178605013, 0.030757123967586, 0.000548268855972];

/**
 * Computes the probability that a real load takes less time than each of its rivals: the mean over the scenarios of the
 * probability that the emulated lead survives independent errors of the emulated times (`SPREADS`).
 *
 * @param own load times in the scenarios
 * @param rivals load times of each rival in the same scenarios
 * @param share of the emulator's error that is independent between the compared times
 */
export function probabilityOfLeast(
  own: readonly number[],
  rivals: readonly (readonly number[])[],
  share = 1,
): number {
  let sum = 0;
  for (const [scenario, time] of own.entries()) {
    const leads = rivals.map((rival) => logOver(rival[scenario]!, time));
    for (const { weight, deviation } of SPREADS) sum += weight * chanceOfLeast(leads, share * deviation);
  }
  return sum / own.length;
}

/** Probability that all log-ratios `leads` stay positive under independent normal errors on each side. */
function chanceOfLeast(leads: readonly number[], deviation: number): number {
  let chance = 0;
  for (const [index, node] of NODES.entries()) {
    for (const sign of node === 0 ? [1] : [1, -1]) {
      let product = WEIGHTS[index]!;
      for (const lead of leads) product *= normalCdf(lead / deviation - sign * node);
      chance += product;
    }
  }
  return chance;
}

/** Whether a lead is large and likely enough to act on. */
export function isDecided(bestMs: number, runnerUpMs: number, confidence: number): boolean {
  return isLargeGain(bestMs, runnerUpMs) && confidence >= MIN_CONFIDENCE;
}

/** Whether a lead is large enough to act on, if it is real. */
export function isLargeGain(bestMs: number, runnerUpMs: number): boolean {
  return runnerUpMs - bestMs > Math.max(MIN_GAIN_MS, MIN_GAIN_SHARE * runnerUpMs);
}

/** Mean logarithm of paired ratios with its standard error, which is 0 for a single pair. */
export function logRatio(
  over: readonly number[],
  under: readonly number[],
): { mean: number; standardError: number } {
  const ratios = over.map((time, index) => logOver(time, under[index]!));
  const centre = mean(ratios);
  const squares = ratios.reduce((sum, ratio) => sum + (ratio - centre) ** 2, 0);
  const standardError = ratios.length < 2 ? 0 : Math.sqrt(squares / (ratios.length - 1) / ratios.length);
  return { mean: centre, standardError };
}

/** Logarithm of a ratio of load times; equal times, 0 ms of a page without requests among them, have a ratio of 1. */
const logOver = (over: number, under: number): number => (over === under ? 0 : Math.log(over / under));

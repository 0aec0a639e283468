import { type LoadTime, normalCdf, type PaintTimes } from '@hopwise/contract';
import { type LoadSpread, SPREADS } from './spread.ts';

/** Bisection steps to find a quantile: to a millionth of the interval. */
const STEPS = 20;
/** Standard deviations beyond which a normal distribution is negligible. */
const TAIL = 4;

/**
 * Computes the distribution of a real load's time: a mixture of the emulated times of equally likely scenarios, each with the
 * scatter of real loads around an emulated one.
 *
 * @param pltMs emulated load times, milliseconds
 * @returns median, 10th and 90th percentile, milliseconds
 */
export function loadTime(pltMs: readonly number[], spreads: readonly LoadSpread[] = SPREADS): LoadTime {
  const quantile = quantilesOf(pltMs, spreads);
  // The distribution around a single scenario is symmetric in the logarithm.
  const median = pltMs.length === 1 ? pltMs[0]! : quantile(0.5);
  return { pltMs: median, low: quantile(0.1), high: quantile(0.9) };
}

/** The quantiles of that distribution, milliseconds. */
export function quantilesOf(
  pltMs: readonly number[],
  spreads: readonly LoadSpread[] = SPREADS,
): (share: number) => number {
  const logs = pltMs.map(Math.log);
  const widest = Math.max(...spreads.map(({ deviation }) => deviation));
  const cdf = (log: number) => {
    let sum = 0;
    for (const { weight, deviation } of spreads) {
      for (const centre of logs) sum += weight * normalCdf((log - centre) / deviation);
    }
    return sum / logs.length;
  };
  return (share) => {
    let low = Math.min(...logs) - TAIL * widest;
    let high = Math.max(...logs) + TAIL * widest;
    for (let step = 0; step < STEPS; step++) {
      const middle = (low + high) / 2;
      if (cdf(middle) < share) low = middle;
      else high = middle;
    }
    return Math.exp((low + high) / 2);
  };
}

/**
 * Carries an emulated change over to a load time that rests on more than the emulation. What the emulation does not explain stays as
 * it is; of a load that takes less than was emulated, the change is scaled.
 *
 * @param fromMs the load's emulated time, milliseconds
 * @param toMs its emulated time after the change, milliseconds
 */
export function withEmulatedChange(time: LoadTime, fromMs: number, toMs: number): LoadTime {
  const scale = Math.min(1, time.pltMs / fromMs);
  return moveTo(time, Math.max(1, time.pltMs + scale * (toMs - fromMs)));
}

/**
 * Carries emulated paints over to a load time that rests on more than the emulation. Of a load that takes less than was emulated they come
 * sooner in proportion; what makes a load longer than the emulation may as well come after them.
 *
 * @param emulatedMs the load's emulated time, milliseconds
 * @param pltMs the load time that is stated, milliseconds
 */
export function scalePaints(
  { firstContentfulPaintMs: first, largestContentfulPaintMs: largest }: PaintTimes,
  emulatedMs: number,
  pltMs: number,
): PaintTimes {
  const scale = Math.min(1, pltMs / emulatedMs);
  return {
    firstContentfulPaintMs: first === null ? null : first * scale,
    largestContentfulPaintMs: largest === null ? null : largest * scale,
  };
}

/** The same range around another median. */
export function moveTo({ pltMs, low, high }: LoadTime, toMs: number): LoadTime {
  const factor = toMs / pltMs;
  return { pltMs: toMs, low: low * factor, high: high * factor };
}

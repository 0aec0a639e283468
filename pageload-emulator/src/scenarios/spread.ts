/**
 * How far a real load lies from the emulated one on the same network with the same losses: the standard deviation of the logarithm of
 * the load time. The emulator's error and the browser's own scatter are in it; the network's uncertainty and the losses' chances are
 * in the scenarios.
 */
export interface Spread {
  /** Share of pages and networks with this spread. */
  weight: number;
  deviation: number;
}

/**
 * Errors have heavier tails than a normal distribution: some pages are understood worse than most. Fitted to loads in Chromium of
 * the pages that the emulator was tuned on, so that the ranges hold four of five single loads and the stated probabilities come
 * true; `npm run bench:accuracy` shows what that is worth on the others. The errors of two protocols of one page are hardly alike.
 */
export const SPREADS: readonly Spread[] = [
  { weight: 0.75, deviation: 0.06 },
  { weight: 0.25, deviation: 0.18 },
];

/** Where a change is to one origin, half of the error is taken to be common to the page before and after. */
export const ORIGIN_SHARE = 0.5;

/**
 * One component of the scatter of a real load around the emulated one on the same network with the same losses. It covers the
 * emulator's error and the browser's own scatter; the uncertainty of the network and of losses is in the scenarios.
 */
export interface Spread {
  /** Share of pages and networks with this spread. */
  weight: number;
  /** Standard deviation of the logarithm of the load time. */
  deviation: number;
}

/**
 * The scatter as a mixture, as some pages are emulated less accurately than most. Fitted to loads in Chromium of the pages that
 * the emulator was tuned on, so that ranges hold four of five single loads and stated probabilities are calibrated; `npm run
 * bench:accuracy` checks both on other pages. The errors of two protocols on one page are nearly independent.
 */
export const SPREADS: readonly Spread[] = [
  { weight: 0.75, deviation: 0.06 },
  { weight: 0.25, deviation: 0.18 },
];

/** Share of the error that is independent when only one origin changes: half is taken to be common to the page before and after. */
export const ORIGIN_SHARE = 0.5;

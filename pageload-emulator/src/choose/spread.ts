/**
 * How far real loads lie from emulated ones, as standard deviations of the logarithm of the load time. Fitted to loads in
 * Chromium of the pages that the emulator was tuned on (`npm run bench:accuracy` shows what the fit is worth on the others).
 */
export interface Spread {
  /** The emulator's error that all protocols share: it moves a page's times together and decides nothing. */
  common: number;
  /** The error of one protocol apart from the others. */
  own: number;
  /** Between real loads that meet the same network and the same losses: the browser's and the machine's own. */
  load: number;
}

/** Errors have heavier tails than a normal distribution: some pages are understood worse than most. */
export interface SpreadComponent extends Spread {
  weight: number;
}

export const SPREADS: readonly SpreadComponent[] = [
  { weight: 0.75, common: 0.02, own: 0.06, load: 0.02 },
  { weight: 0.25, common: 0.06, own: 0.18, load: 0.06 },
];

/** Where a change is to one origin, half of the error of one protocol is taken to be common to both. */
export const ORIGIN_SHARE = 0.5;

/** Of a single load around its emulated time. */
export function loadSpread({ common, own, load }: Spread): number {
  return Math.hypot(common, own, load);
}

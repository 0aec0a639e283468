/** Scatter of a browser's loads of one page on one network without random loss; random loss is in the scenarios. */
export const BROWSER_NOISE = 0.07;

/** One component of the emulator's error. */
interface EmulationError {
  /** Share of pages and networks with this error. */
  weight: number;
  deviation: number;
}

/**
 * The emulator's error as a mixture, as some pages are emulated less accurately than most. With `BROWSER_NOISE` chosen on the training
 * cells of the gauntlet, so that ranges hold four of five single loads whether the network is given or estimated; `npm run
 * bench -- accuracy` checks that on other cells. The errors of two protocols on one page are nearly independent.
 */
const EMULATION_ERRORS: readonly EmulationError[] = [
  { weight: 0.75, deviation: 0.11 },
  { weight: 0.25, deviation: 0.24 },
];

/**
 * One component of the scatter of a real load around the emulated one on the same network with the same losses. The uncertainty
 * of the network and of losses is in the scenarios.
 */
export interface LoadSpread {
  /** Share of pages and networks with this spread. */
  weight: number;
  /** Standard deviation of the logarithm of the load time. */
  deviation: number;
}

export const SPREADS: readonly LoadSpread[] = EMULATION_ERRORS.map(({ weight, deviation }) => ({
  weight,
  deviation: Math.hypot(deviation, BROWSER_NOISE),
}));

/** Share of the error that is independent when only one origin changes: half is taken to be common to the page before and after. */
export const ORIGIN_SHARE = 0.5;

import { FEATURES } from '../../src/features/window-features.ts';

/** Largest value of each feature, in the order of `FEATURES`. */
export const SCALES = [0.125, 512, 1024, 1024, 2048, 4, 256];
export const MISSING = 0.125;

/** The linear congruential generator of Numerical Recipes (chapter 7.1), over 2^32, as in `model/python/tests/golden_windows.py`. */
export function uniform(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Features up to their scales, an eighth of them missing, and the protocol, as in `model/python/tests/golden_classifier.py`. */
export function generateRows(count: number): Float32Array[] {
  const next = uniform();
  return Array.from({ length: count }, () => {
    const row = FEATURES.map((_, column) => {
      const isMissing = next() < MISSING;
      const value = next() * SCALES[column]!;
      return isMissing ? Number.NaN : value;
    });
    return Float32Array.from([...row, next() >= 0.5 ? 1 : 0]);
  });
}

import type { FigureSource } from '@hopwise/contract';
import { type Candidate, likeness } from './candidates.ts';

/**
 * Standard deviation of the logarithm of a load time's emulation error that all candidates of a page share: server and script
 * times, missing requests.
 */
const COMMON_DEVIATION = 0.08;
/**
 * The same of each protocol's own part, by whether round trip, rate and loss are known or were read from the recording. Chosen on
 * measured loads of the golden set, where the ratios of two protocols are off by 8% and 12% in the median.
 */
const PROTOCOL_DEVIATION = { known: 0.06, estimated: 0.1 };

const DECISIVE_FIGURES = ['rttMs', 'downBps', 'loss'] as const;

/** Whether the figures that decide between protocols were given or measured. */
export function isNetworkKnown(sources: Record<(typeof DECISIVE_FIGURES)[number], FigureSource>): boolean {
  return DECISIVE_FIGURES.every((figure) => sources[figure] === 'given' || sources[figure] === 'measured');
}

/** Covariances of the candidates' emulation errors. Candidates that carry the same bytes by the same protocol share their error. */
export function errorCovariance(
  candidates: readonly Candidate[],
  weights: ReadonlyMap<string, number>,
  isKnown: boolean,
): number[][] {
  const own = PROTOCOL_DEVIATION[isKnown ? 'known' : 'estimated'];
  return candidates.map((a) =>
    candidates.map((b) => {
      const alike = a === b ? 1 : likeness(a, b, weights);
      return COMMON_DEVIATION ** 2 + alike * own ** 2;
    }),
  );
}

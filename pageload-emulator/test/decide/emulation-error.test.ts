import type { Assignment, Protocol } from '@hopwise/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Candidate } from '../../src/decide/candidates.ts';
import { errorCovariance } from '../../src/decide/emulation-error.ts';

const PAGE = 'https://page.test';
const IMAGES = 'https://images.test';
const byteShares = new Map([
  [PAGE, 0.25],
  [IMAGES, 0.75],
]);

const candidate = (page: Protocol, images: Protocol, discoversH3 = false): Candidate => {
  const assignment: Assignment = { [PAGE]: page, [IMAGES]: images };
  return { assignment, discoversH3, pltMs: [1000] };
};

/** Variance of the error of the ratio of two candidates' times. */
function ratioVariance(a: Candidate, b: Candidate, recorded: Candidate | undefined): number {
  const covariance = (x: Candidate, y: Candidate) => errorCovariance(x, y, { byteShares, recorded });
  return covariance(a, a) + covariance(b, b) - 2 * covariance(a, b);
}

describe("the emulator's error", () => {
  it('grows with the share of the bytes that were recorded under another protocol', () => {
    const recorded = candidate('h2', 'h2');
    const variances = [recorded, candidate('h3', 'h2'), candidate('h2', 'h3'), candidate('h3', 'h3')].map(
      (each) => errorCovariance(each, each, { byteShares, recorded }),
    );
    expect(variances).toEqual(variances.toSorted((a, b) => a - b));
    expect(new Set(variances).size).toBe(4);
    expect(variances[0]).toBeLessThan(variances[3]! / 4);
  });

  it('is the same for all candidates on another network than the recorded one', () => {
    const all = [candidate('h1', 'h1'), candidate('h2', 'h3'), candidate('h2', 'h2', true)];
    const variances = all.map((each) => errorCovariance(each, each, { byteShares, recorded: undefined }));
    expect(new Set(variances).size).toBe(1);
  });

  it('never makes the ratio of two times more certain than certain', () => {
    const protocol = fc.constantFrom<Protocol>('h1', 'h2', 'h3');
    const any = fc.tuple(protocol, protocol, fc.boolean()).map((parts) => candidate(...parts));
    fc.assert(
      fc.property(any, any, any, (a, b, recorded) => {
        expect(ratioVariance(a, b, recorded)).toBeGreaterThanOrEqual(-1e-12);
        expect(ratioVariance(a, b, undefined)).toBeGreaterThanOrEqual(-1e-12);
      }),
      { seed: 1 },
    );
  });
});

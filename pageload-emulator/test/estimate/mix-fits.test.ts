import { describe, expect, it } from 'vitest';
import type { PathFit } from '../../src/estimate/fit-path.ts';
import { mixFits, posteriorOf } from '../../src/estimate/mix-fits.ts';
import { LogDensity, logGrid } from '../../src/network/log-density.ts';

const GRID = logGrid(1e6, 100e6, 41);
const around = (bps: number) => LogDensity.logNormal(GRID, bps, 0.2);

function fitOf(downBps: number, policedShare: number, logEvidence: number): PathFit {
  return {
    downBps: around(downBps),
    policed: { downBps: around(2 * downBps), loss: around(0.01), bps: around(2e6) },
    policedShare,
    queueMs: around(downBps),
    loss: around(downBps),
    logEvidence,
  };
}

describe('fits under assumptions', () => {
  it('weigh by their probability and how well they explain the times', () => {
    const fits = [
      { probability: 0.8, fit: fitOf(10e6, 0, -50) },
      { probability: 0.2, fit: fitOf(40e6, 0.5, -50 + Math.log(4)) },
    ];
    // 0.8 · 1 against 0.2 · 4.
    expect([...posteriorOf(fits)]).toEqual([expect.closeTo(0.5, 9), expect.closeTo(0.5, 9)]);
    const mixed = mixFits(fits);
    expect(mixed.policedShare).toBeCloseTo(0.5 * 0.5, 9);
    expect(mixed.logEvidence).toBeCloseTo(-50 + Math.log(0.8 + 0.2 * 4), 9);
    // The second fit is open with half its weight, so the first has two thirds of the open paths.
    expect(mixed.downBps.above(20e6)).toBeCloseTo(1 / 3, 2);
    // Only the second one is policed.
    expect(mixed.policed.downBps.quantile(0.5) / 80e6).toBeCloseTo(1, 1);
  });

  it('keep their densities for a treatment of UDP that is impossible', () => {
    for (const policedShare of [0, 1]) {
      const fit = fitOf(10e6, policedShare, -50);
      const mixed = mixFits([{ probability: 1, fit }]);
      expect(mixed.downBps.quantile(0.5)).toBeCloseTo(fit.downBps.quantile(0.5), 3);
      expect(mixed.policed.downBps.quantile(0.5)).toBeCloseTo(fit.policed.downBps.quantile(0.5), 3);
      expect(mixed.policed.bps.quantile(0.5)).toBeCloseTo(fit.policed.bps.quantile(0.5), 3);
    }
  });
});

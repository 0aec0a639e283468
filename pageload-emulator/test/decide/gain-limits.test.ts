import { expect, test } from 'vitest';
import { GainLimits } from '../../src/decide/gain-limits.ts';
import { MeasuredTimes } from '../../src/decide/measured-loads.ts';
import { pathOf } from '../support/pages.ts';

const path = pathOf({ rttMs: 60, downBps: 20e6, loss: 0.01 });
const candidateOf = (pltMs: number[]) => ({ assignment: {}, discoversH3: false, pltMs });
const baseline = candidateOf([1000, 1000, 1000]);
/** Its first load met losses that the others did not. */
const faster = candidateOf([990, 700, 720]);

function limitOn(paths: readonly (typeof path)[]): number {
  const scenarios = paths.map((each, seed) => ({ path: each, servers: [], seed }));
  const known = { measured: new MeasuredTimes(), transferGainMs: () => null, learned: null };
  return new GainLimits({ baseline, scenarios, ...known }).of(faster);
}

test('a gain on a network that is given is what its loads give together', () => {
  // By their medians, which count each load with the emulator's scatter.
  expect(limitOn([path, path, path])).toBeGreaterThan(200);
  expect(limitOn([path, path, path])).toBeLessThanOrEqual(280);
});

test('a gain that depends on what is unknown of the network is that on the likeliest one', () => {
  expect(limitOn([path, { ...path }, { ...path }])).toBe(10);
});

import { expect, test } from 'vitest';
import { judgeLoop } from '../../src/loop/judge-loop.ts';
import { showLoop } from '../../src/loop/loop-table.ts';
import { visitsOf } from '../support/product-visits.ts';

const VISITS = [
  ...visitsOf('cable', 'a', {
    off: [1000, 1000, 1000, 1000],
    explore: [1100, 900, 800, 800],
    h1: [800],
    h2: [1000],
    h3: [1200],
  }),
  ...visitsOf('cable', 'b', { off: [2000], explore: [2000], h1: [2400], h2: [2100], h3: [2200] }),
  ...visitsOf('udp-policed', 'a', { off: [9000], explore: [1500], h1: [1000], h2: [1000], h3: [9000] }),
];

test('the loop is compared with the browser’s own choice and with the best fixed one of each page', () => {
  const figures = judgeLoop('explore', VISITS);
  expect(figures.map(({ network }) => network)).toEqual(['cable', 'udp-policed', 'all']);
  const [cable, policed, all] = figures as [(typeof figures)[0], (typeof figures)[0], (typeof figures)[0]];
  expect(cable.cells.map(({ best }) => best)).toEqual(['h1', 'off']);
  expect(cable.againstOff.estimate).toBeCloseTo(Math.sqrt(0.9), 10);
  expect(cable.againstBest.estimate).toBeCloseTo(Math.sqrt(900 / 800), 10);
  expect(cable.againstReachable.estimate).toBeCloseTo(Math.sqrt(0.9), 10);
  expect(policed.againstReachable.estimate).toBeCloseTo(1.5, 10);
  expect(policed.againstBest.estimate).toBeCloseTo(1.5, 10);
  expect(all.againstOff.estimate).toBeCloseTo((0.9 * (1500 / 9000)) ** (1 / 3), 10);
  expect(all.cells).toHaveLength(3);
  expect(cable.againstBest.low).toBeLessThanOrEqual(cable.againstBest.estimate);
});

test('the table names each network and each page with its best choice', () => {
  const text = showLoop([], judgeLoop('explore', VISITS));
  expect(text).toContain('−5.1%');
  expect(text).toMatch(/udp-policed, a +1\.50 s +9\.00 s +1\.00 s +1\.00 s +9\.00 s +HTTP\/1\.1 +0 of 1/);
});

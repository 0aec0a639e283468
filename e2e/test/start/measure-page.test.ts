import { expect, test } from 'vitest';
import { isHopeless } from '../../src/start/measure-page.ts';

const timesMs = { natural: [13_000], h1: [1500, 1600], h2: [1400, 2000], h3: [6100] };

test('a protocol far slower than another one is measured no further', () => {
  expect(isHopeless('h3', timesMs)).toBe(true); // 6100 > 3 · 2000 and > 3 · 1600
  expect(isHopeless('h3', { ...timesMs, h3: [6100, 4700] })).toBe(false); // 4700 < 3 · 1600
  expect(isHopeless('h1', timesMs)).toBe(false);
  expect(isHopeless('h3', { h3: [6100] })).toBe(false);
});

test('the browser’s own choice and the assignment are measured to the end', () => {
  expect(isHopeless('natural', timesMs)).toBe(false);
  expect(isHopeless('assigned', { ...timesMs, assigned: [20_000] })).toBe(false);
});

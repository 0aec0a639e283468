import { expect, test } from 'vitest';
import { flawWarnings, isHopeless } from '../../src/start/measure-page.ts';

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

test('flawed loads are one line, whatever was measured', () => {
  const measured = (repeated: number) =>
    ({
      medianMs: 1,
      lowMs: 1,
      highMs: 1,
      range: 'min-max',
      loads: [],
      proved: 0,
      failed: 0,
      repeated,
    }) as const;
  const measurement = {
    natural: { ...measured(2), loads: [] },
    h1: { ...measured(1), loads: [] },
    h3: { unavailable: 'no answer' },
  };
  expect(flawWarnings(measurement, { natural: 3, h1: 1, h2: 0, h3: 5, assigned: 0 })).toEqual([
    "loads dropped and repeated, disturbed by late packets, other processes or requests that failed: 2 of the browser's own choice, 1 of HTTP/1.1",
    "loads kept although disturbed by late packets, other processes or requests that failed: 1 of the browser's own choice",
  ]);
  expect(flawWarnings({}, { natural: 0, h1: 0, h2: 0, h3: 0, assigned: 0 })).toEqual([]);
});

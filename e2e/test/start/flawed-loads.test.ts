import { expect, test } from 'vitest';
import { FlawedLoads } from '../../src/start/flawed-loads.ts';

const NAMES = {
  natural: "the browser's own choice",
  h1: 'HTTP/1.1',
  h2: 'HTTP/2',
  h3: 'HTTP/3',
  assigned: "hopwise's action",
};
const ICON = { url: 'https://a.test/icon.png' };
const SCRIPT = { url: 'https://a.test/app.js' };

test('disturbed loads are made again until too many were', () => {
  const loads = new FlawedLoads(2, false);
  expect(loads.judge('natural', [], true)).toBe('repeat');
  expect(loads.judge('natural', [], false)).toBe('keep');
  expect(loads.judge('h1', [], true)).toBe('repeat');
  expect(loads.judge('h1', [], true)).toBe('keep');
  expect(loads.describe(NAMES)).toEqual([
    "loads dropped and repeated, disturbed by late packets or other processes: 1 of the browser's own choice, 1 of HTTP/1.1",
    'loads kept although disturbed by late packets or other processes: 1 of HTTP/1.1',
  ]);
});

test('a load is made again thrice at most', () => {
  const loads = new FlawedLoads(100, false);
  const verdicts = Array.from({ length: 5 }, () => loads.judge('h2', [], true));
  expect(verdicts).toEqual(['repeat', 'repeat', 'repeat', 'keep', 'repeat']);
});

test('so is a load in which other requests failed than those of the first one, though disturbed ones are kept', () => {
  const loads = new FlawedLoads(5, true);
  expect(loads.judge('natural', [ICON], true)).toBe('keep');
  expect(loads.judge('h1', [ICON], false)).toBe('keep');
  expect(loads.judge('h3', [ICON, SCRIPT], true)).toBe('repeat');
  expect(loads.judge('h3', [], false)).toBe('keep');
  expect(loads.describe(NAMES)).toEqual([
    "loads kept although disturbed by late packets or other processes: 1 of the browser's own choice",
    'loads dropped and repeated, as requests failed in them: 1 of HTTP/3',
  ]);
});

test('where there are none, nothing is said', () => {
  expect(new FlawedLoads(5, false).describe(NAMES)).toEqual([]);
});

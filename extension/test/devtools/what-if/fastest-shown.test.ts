import { expect, test } from 'vitest';
import { listFastestShown } from '../../../src/devtools/what-if/fastest-shown.ts';
import { createDurationFormat } from '../../../src/ui/format.ts';

test.each([
  ['of times that look alike, all', { h1: 1340, h2: 1270, h3: 2700 }, ['h1', 'h2']],
  ['of others, the least one', { h1: 1370, h2: 1270, h3: 2700 }, ['h2']],
  ['none that does not load', { h1: null, h2: 1270, h3: null }, ['h2']],
  ['none where none loads', { h1: null, h2: null, h3: null }, []],
])('marks as the fastest %s', (_words, times, fastest) => {
  expect(listFastestShown(times, createDurationFormat(2700))).toEqual(fastest);
});

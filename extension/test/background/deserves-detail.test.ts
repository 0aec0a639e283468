import type { Prediction } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { deservesDetail, deservesPrediction } from '../../src/background/deserves-detail.ts';
import { type loadOf, loadsTaking } from '../evidence/stored-loads.ts';
import { actionOf, decisionOf, LEAVE } from '../support/decisions.ts';

const light = { isDetailed: false };
const [slow] = loadsTaking([4300], 2, light) as [ReturnType<typeof loadOf>];

test('a slow page of which no load is recorded in detail deserves it, a fast one does not', () => {
  expect(deservesDetail(slow, [slow], null)).toBe(true);
  const [fast] = loadsTaking([900], 2, light) as [typeof slow];
  expect(deservesDetail(fast, [fast], null)).toBe(false);
  const [usual] = loadsTaking([2000], 2, light) as [typeof slow];
  expect(deservesDetail(usual, [usual], null)).toBe(false);
  expect(deservesDetail(usual, [...loadsTaking([1800], 1, light), usual], null)).toBe(false);
  expect(deservesDetail(usual, [...loadsTaking([1200], 1, light), usual], null)).toBe(true);
});

test('three detailed loads of the page are enough', () => {
  const before = loadsTaking([4200, 4400, 4300], -2);
  expect(deservesDetail(slow, [...before.slice(1), slow], null)).toBe(true);
  expect(deservesDetail(slow, [...before, slow], null)).toBe(false);
  expect(deservesDetail(slow, [{ ...before[0]!, ...light }, ...before.slice(1), slow], null)).toBe(true);
});

test('a load that does not show how long the page takes deserves none', () => {
  const hidden = { ...slow, pinned: null };
  expect(deservesDetail(hidden, [hidden], null)).toBe(false);
});

test('where it was found that nothing can be gained, no question is open', () => {
  expect(deservesDetail(slow, [slow], decisionOf([LEAVE]))).toBe(false);
  const avoid = actionOf('avoid-h3', { 'https://a.test': 'h2' });
  expect(deservesDetail(slow, [slow], decisionOf([avoid, LEAVE]))).toBe(true);
});

test('the second slow load in a row is predicted also where it is light; the first may have been slow by chance', () => {
  const visits = loadsTaking([1100, 12_000, 11_000], 1, light);
  const isPredicted = (load: typeof slow, all = visits) => deservesPrediction(load, all);
  expect(visits.map((load) => isPredicted(load))).toEqual([false, false, true]);
  const once = loadsTaking([1100, 12_000, 1100, 11_000], 1, light);
  expect(once.map((load) => isPredicted(load, once))).toEqual([false, false, false, false]);
});

test('a page of which there is a prediction is not predicted again after each light load', () => {
  const [first, second, third] = loadsTaking([1100, 12_000, 11_000], 1, light) as (typeof slow)[];
  const predicted = { ...second!, prediction: { decision: decisionOf([LEAVE]) } as Prediction };
  expect(deservesPrediction(third!, [first!, predicted, third!])).toBe(false);
  expect(deservesPrediction({ ...third!, isDetailed: true }, [first!, predicted])).toBe(true);
});

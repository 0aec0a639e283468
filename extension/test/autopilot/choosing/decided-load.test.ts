import type { Prediction } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { findDecidedLoad } from '../../../src/autopilot/choosing/decided-load.ts';
import { summariseLoad } from '../../../src/load/load-summary.ts';
import type { StoredLoad } from '../../../src/storage/loads.ts';
import { loadsTaking } from '../../evidence/stored-loads.ts';
import { actionOf, decisionOf, LEAVE } from '../../support/decisions.ts';

const leave = decisionOf([LEAVE]);
const act = decisionOf([actionOf('avoid-h3', { 'https://page.test': 'h2' })]);
const decided = (load: StoredLoad, decision = leave): StoredLoad => ({
  ...load,
  prediction: { decision } as Prediction,
});
const [first, second, third, ...later] = loadsTaking([
  2000, 2100, 1900, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000,
]);
const [next] = loadsTaking([2000], 50);
const findId = (load: StoredLoad, before: readonly StoredLoad[]) =>
  findDecidedLoad(load, before.map(summariseLoad))?.id;

test('two decisions to leave a page hold for the next loads', () => {
  const before = [decided(first!), decided(second!)];
  expect(findId(next!, before)).toBe(2);
  expect(findId(next!, [...before, third!])).toBe(2);
  expect(findId(next!, before.slice(1))).toBeUndefined();
  expect(findId(next!, [...before, third!, ...later])).toBeUndefined();
});

test('a decision to act is made anew', () => {
  expect(findId(next!, [decided(first!), decided(second!, act)])).toBeUndefined();
});

test('a surprise, other pins, and a detailed load need a new decision', () => {
  const before = [decided(first!), decided(second!)];
  const [slow] = loadsTaking([3000], 50);
  expect(findId(slow!, before)).toBeUndefined();
  expect(findId({ ...next!, pinned: { 'https://page.test': 'h2' } }, before)).toBeUndefined();
  const light = before.map((load) => ({ ...load, isDetailed: false }));
  expect(findId(next!, light)).toBeUndefined();
  expect(findId({ ...next!, isDetailed: false }, light)).toBe(2);
});

test('what was decided after the first slow load is decided again after the second', () => {
  const [one, two, slow, again] = loadsTaking([2000, 2100, 3500, 3600]);
  expect(findId(again!, [one!, decided(two!), decided(slow!)])).toBeUndefined();
});

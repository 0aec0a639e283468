import type { Prediction } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { findRecentDecision } from '../../src/autopilot/recent-decision.ts';
import type { StoredLoad } from '../../src/storage/loads.ts';
import { loadsTaking } from '../evidence/stored-loads.ts';
import { actionOf, decisionOf, LEAVE } from '../support/decisions.ts';

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

test('two decisions to leave a page hold for the next loads', () => {
  const before = [decided(first!), decided(second!)];
  expect(findRecentDecision(next!, before)).toBe(leave);
  expect(findRecentDecision(next!, [...before, third!])).toBe(leave);
  expect(findRecentDecision(next!, before.slice(1))).toBeNull();
  expect(findRecentDecision(next!, [...before, third!, ...later])).toBeNull();
});

test('a decision to act is made anew', () => {
  expect(findRecentDecision(next!, [decided(first!), decided(second!, act)])).toBeNull();
});

test('a surprise, other pins, and a detailed load need a new decision', () => {
  const before = [decided(first!), decided(second!)];
  const [slow] = loadsTaking([3000], 50);
  expect(findRecentDecision(slow!, before)).toBeNull();
  expect(findRecentDecision({ ...next!, pinned: { 'https://page.test': 'h2' } }, before)).toBeNull();
  const light = before.map((load) => ({ ...load, isDetailed: false }));
  expect(findRecentDecision(next!, light)).toBeNull();
  expect(findRecentDecision({ ...next!, isDetailed: false }, light)).toBe(leave);
});

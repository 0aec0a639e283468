import type { Action } from '@hopwise/contract';
import { expect, it } from 'vitest';
import { promisingAction } from '../../src/decide/pick-action.ts';

const actionOf = (kind: Action['kind'], gain: number, helps: number, needs: Action['needs']) =>
  ({ kind, gain, helps, needs, gainMs: 2800 * gain }) as Action;

it.each([
  // 0.364 · 0.72 = 0.262 and 0.358 · 0.75 = 0.269
  ['needs less, where more is to be hoped for by less than 5%', 0.358, 'avoid-h3'],
  // 0.44 · 0.75 = 0.33
  ['is hoped to gain more, where it does by 5% or more', 0.44, 'force-protocol'],
])('the most promising action is the one that %s', (_words, gain, kind) => {
  const actions = [
    actionOf('leave', 0, 0.5, []),
    actionOf('force-protocol', gain, 0.75, ['helper', 'ca']),
    actionOf('avoid-h3', 0.364, 0.72, ['helper']),
    actionOf('withdraw-h3', 0.9, 0.9, ['server']),
  ];
  expect(promisingAction(actions)?.kind).toBe(kind);
});

it('no action is promising where there is none but to leave the page', () => {
  expect(promisingAction([actionOf('leave', 0, 0.5, [])])).toBeNull();
});

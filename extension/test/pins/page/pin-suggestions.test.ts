import type { Action } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { suggestPins } from '../../../src/pins/page/pin-suggestions.ts';
import { planPins } from '../../../src/pins/plan-pins.ts';
import { actionOf, decisionOf, LEAVE } from '../../support/decisions.ts';

const A = 'https://a.example';
const B = 'https://b.example';
const avoid = actionOf('avoid-h3', { [A]: 'h2', [B]: 'h2' });
const hold = actionOf('force-protocol', { [A]: 'h1', [B]: 'h2' });

test('an action to avoid HTTP/3 pins each of its origins', () => {
  expect(planPins(avoid)).toEqual([
    { origin: A, kind: 'avoid-h3' },
    { origin: B, kind: 'avoid-h3' },
  ]);
});

test('an action that holds origins pins each to its protocol', () => {
  expect(planPins(hold)).toEqual([
    { origin: A, kind: 'h1' },
    { origin: B, kind: 'h2' },
  ]);
});

test.each<[string, Action[], string[]]>([
  ['of the recommended action', [avoid], ['avoid-h3']],
  [
    'of a worthwhile one too, the recommended one first',
    [hold, { ...avoid, gainMs: 1500 }],
    ['h1', 'avoid-h3'],
  ],
  ['but not of one that is not worthwhile', [avoid, { ...hold, worthwhile: false }], ['avoid-h3']],
  [
    'nor of one that promises more than the recommended one',
    [avoid, { ...hold, gainMs: 2100 }],
    ['avoid-h3'],
  ],
  ['nor of a change of the server', [avoid, actionOf('withdraw-h3', { [A]: 'h2' })], ['avoid-h3']],
  ['none when the answer is to leave it', [LEAVE, avoid], []],
])('an origin is offered the pin %s', (_words, actions, kinds) => {
  expect(suggestPins(decisionOf(actions), A)).toEqual(kinds);
});

test('an origin that no action includes is offered none', () => {
  expect(suggestPins(decisionOf([avoid]), 'https://c.example')).toEqual([]);
});

test.each(['https://9.9.9.9', 'https://[2620:fe::fe]:8443'])(
  'the IP address %s may avoid HTTP/3, but is not pinned to a protocol',
  (origin) => {
    expect(planPins(actionOf('avoid-h3', { [origin]: 'h2' }))).toEqual([{ origin, kind: 'avoid-h3' }]);
    expect(planPins(actionOf('force-protocol', { [origin]: 'h2' }))).toEqual([]);
  },
);

test.each([
  'http://a.example',
  'https://localhost:8443',
  'https://app.localhost',
  'https://127.0.0.1',
  'https://[::1]:8443',
  'https://10.1.2.3',
  'https://192.168.1.1:8443',
  'https://[fd00::1]',
  'https://a;b.example',
])('%s is not pinned', (origin) => {
  expect(planPins(actionOf('avoid-h3', { [origin]: 'h2', [A]: 'h2' }))).toEqual([
    { origin: A, kind: 'avoid-h3' },
  ]);
  expect(suggestPins(decisionOf([actionOf('avoid-h3', { [origin]: 'h2' })]), origin)).toEqual([]);
});

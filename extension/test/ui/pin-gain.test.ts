import { expect, test } from 'vitest';
import type { PinGain } from '../../src/evidence/pin-outcomes.ts';
import { decideBeyondPins } from '../../src/ui/pin-gain.ts';
import { actionOf, decisionOf } from '../support/decisions.ts';

// 2.3 s are promised.
const decision = decisionOf([actionOf('force-protocol', { 'https://a.example': 'h1' })]);

test.each<[PinGain['effect'] | null, number, boolean]>([
  [null, 4300, true],
  ['gains', 4300, true],
  // 5% less would be 2280 ms.
  ['gains', 2400, false],
  ['unclear', 4300, true],
  // The pins are to be undone first.
  ['harms', 9000, false],
  ['nothing', 4300, false],
  // One more load with the pins tells first.
  ['slower-once', 9000, false],
])(
  'beside pins with the effect “%s”, in %d ms, another action is offered: %j',
  (effect, afterMs, isOffered) => {
    const gain = effect && {
      beforeMs: 4300,
      afterMs,
      beforeLoads: 2,
      afterLoads: 1,
      savedMs: { low: 0, high: 0 },
      effect,
    };
    expect(decideBeyondPins(decision, gain)).toBe(isOffered ? decision : null);
  },
);

test.each([
  // 5% less would be 2280 ms.
  [2400, false],
  [4000, true],
])('beside pins that promise %d ms, another action is offered: %j', (pltMs, isOffered) => {
  const promised = actionOf(
    'avoid-h3',
    { 'https://a.example': 'h2' },
    { time: { pltMs, low: pltMs, high: pltMs } },
  );
  expect(decideBeyondPins(decision, null, promised)).toBe(isOffered ? decision : null);
});

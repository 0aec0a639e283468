import type { Prediction } from '@hopwise/contract';
import { describe, expect, test } from 'vitest';
import { compareLoads, findPinGain, findPinOutcomes } from '../../src/evidence/pin-outcomes.ts';
import { decisionOf } from '../support/decisions.ts';
import { loadOf, loadsTaking, requestOf, waiting } from './stored-loads.ts';

const origin = 'https://page.test';
const pin = { origin, kind: 'avoid-h3' as const };
const pinned = { [origin]: 'h2' as const };

test('a pin’s gain is that of the loads with it over those without pins', () => {
  const all = [...loadsTaking([4200, 4300, 4400]), ...loadsTaking([2200, 2400], 4, { pinned })];
  expect(findPinOutcomes([pin], all)).toMatchObject([
    { ...pin, beforeMs: 4300, afterMs: 2300, beforeLoads: 3, afterLoads: 2, effect: 'gains' },
  ]);
});

test('the outcome is of the page that was loaded last with the pin', () => {
  const elsewhere = { url: 'https://elsewhere.test/' };
  const all = [
    ...loadsTaking([4300, 4300]),
    ...loadsTaking([890, 910], 3, { recording: elsewhere }),
    ...loadsTaking([2300], 5, { pinned }),
    ...loadsTaking([800], 6, { pinned, recording: elsewhere }),
  ];
  expect(findPinOutcomes([pin], all)).toMatchObject([{ beforeMs: 900, afterMs: 800 }]);
});

test('the gain of all pins of a load is that of the loads with the same pins over those without', () => {
  const elsewhere = { 'https://cdn.test': 'h2' as const };
  const all = [
    ...loadsTaking([4200, 4400]),
    ...loadsTaking([900], 3, { pinned: elsewhere }),
    ...loadsTaking([2200, 2400], 4, { pinned }),
  ];
  expect(findPinGain(all[4]!, all)).toMatchObject({
    beforeMs: 4300,
    afterMs: 2300,
    beforeLoads: 2,
    afterLoads: 2,
    effect: 'gains',
  });
});

test('a load beside other traffic says nothing of its pins', () => {
  const beside = loadsTaking([2458], 4, { pinned, recording: { requests: waiting(150) } });
  const all = [...loadsTaking([1500, 1510, 1490]), ...beside];
  expect(findPinGain(all[3]!, all)).toBeNull();
  expect(findPinOutcomes([pin], all)).toEqual([]);
  const later = [...all, ...loadsTaking([900], 5, { pinned })];
  expect(findPinGain(later[4]!, later)).toMatchObject({ afterMs: 900, afterLoads: 1 });
});

const overH3 = { requests: [0, 1, 2].map((id) => requestOf(id, { protocol: 'h3' })) };

test('loads with pins are compared with later visits, not with the first one over HTTP/2', () => {
  const all = [
    ...loadsTaking([1142]),
    ...loadsTaking([7620], 2, { recording: overH3 }),
    ...loadsTaking([1316], 3, { pinned }),
  ];
  expect(findPinGain(all[2]!, all)).toMatchObject({ beforeMs: 7620, afterMs: 1316, effect: 'gains' });
  expect(findPinOutcomes([pin], all)).toMatchObject([{ beforeMs: 7620, beforeLoads: 1 }]);
});

describe('where no later visit is stored', () => {
  const { baseline } = decisionOf([]);
  const decision = decisionOf([], { baseline: { ...baseline, pltMs: 1142, laterPltMs: 7000 } });
  const first = loadOf(1, { prediction: { decision } as Prediction, recording: { pltMs: 1142 } });
  const after = loadsTaking([1316], 2, { pinned });

  test('loads are compared with what the run has kept', () => {
    const measured = { beforeMs: [7500, 7700], estimatedMs: 6000 };
    const gain = { beforeMs: 7600, beforeLoads: 2, afterMs: 1316 };
    expect(findPinGain(after[0]!, after, measured)).toMatchObject(gain);
    expect(findPinOutcomes([pin], [first, ...after], () => measured)).toMatchObject([gain]);
  });

  test('loads are compared with what the run has estimated', () => {
    const estimated = { beforeMs: [], estimatedMs: 6000 };
    const gain = { beforeMs: 6000, beforeLoads: 0, effect: 'gains' };
    expect(findPinGain(after[0]!, [first, ...after], estimated)).toMatchObject(gain);
  });

  test('loads with a user’s pins are compared with what was predicted of later visits', () => {
    const gain = { beforeMs: 7000, beforeLoads: 0, effect: 'gains' };
    expect(findPinGain(after[0]!, [first, ...after])).toMatchObject(gain);
  });

  test('an estimate shows no harm', () => {
    const slower = loadsTaking([9000, 9100, 9050, 9000], 2, { pinned });
    const estimated = { beforeMs: [], estimatedMs: 1000 };
    expect(findPinGain(slower[3]!, slower, estimated)).toMatchObject({ effect: 'unclear' });
  });
});

test.each([
  ['a load without pins', loadsTaking([4300, 2300])],
  ['pins without a load before them', loadsTaking([4300, 2300], 1, { pinned })],
  ['a load that did not end', [loadOf(1), loadOf(2, { pinned, recording: { pltMs: null } })]],
])('there is no gain of %s', (_words, all) => {
  expect(findPinGain(all[1]!, all)).toBeNull();
});

test.each([
  ['no load before it', loadsTaking([2300, 2400], 1, { pinned })],
  ['no load after it', loadsTaking([4300, 4200])],
  [
    'other pins in the loads before it',
    [...loadsTaking([4300], 1, { pinned: { [origin]: 'h3' } }), ...loadsTaking([2300], 2, { pinned })],
  ],
  ['loads before it on another network', [loadOf(1), loadOf(2, { pinned, cluster: null })]],
])('there is no outcome with %s', (_words, all) => {
  expect(findPinOutcomes([pin], all)).toEqual([]);
});

test.each([
  [[4300], [2300], 'gains'],
  [[2300], [4300], 'harms'],
  [[1000], [950], 'unclear'],
  [[1000, 1010, 990], [1000, 990, 1010], 'nothing'],
  [[1000, 1010, 990, 1000, 1005], [900, 905, 895, 900, 910], 'gains'],
])('%j before and %j after: %s', (before, after, effect) => {
  expect(compareLoads(before, after).effect).toBe(effect);
});

test('the interval of the saved time contains the difference of the medians, and shrinks with more loads', () => {
  const few = compareLoads([4300], [2300]).savedMs;
  const many = compareLoads([4200, 4300, 4400], [2200, 2300, 2400]).savedMs;
  // exp(±1.28 × 0.15 × √2) of one load each: 2300 ms may as well be 1752 or 3019 ms.
  expect(few.low).toBeCloseTo(4300 - 3019, -1);
  expect(few.high).toBeCloseTo(4300 - 1752, -1);
  expect(many.low).toBeGreaterThan(few.low);
  expect(many.high).toBeLessThan(few.high);
});

test.each([
  // One load may be slow by chance.
  [[2000, 2100, 2000], [3000], 'slower-once'],
  [[2000, 2100, 2000], [3500], 'harms'],
  [[2000, 2100, 2000], [3000, 3000], 'harms'],
])('after %j without pins, those of %j are said to do: %s', (before, after, effect) => {
  const all = [...loadsTaking(before), ...loadsTaking(after, before.length + 1, { pinned })];
  expect(findPinGain(all.at(-1)!, all)?.effect).toBe(effect);
});

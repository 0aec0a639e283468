import { HOUR_MS, type Prediction, type Protocol, type Recording } from '@hopwise/contract';
import { describe, expect, test } from 'vitest';
import { findComparableLoads, selectSinceChange } from '../../src/evidence/comparable-loads.ts';
import { collectKnowledge } from '../../src/evidence/knowledge.ts';
import { findPeriodsDuring, type PinPeriod } from '../../src/evidence/pin-period.ts';
import { findPinnedProtocols } from '../../src/evidence/pinned-protocols.ts';
import { summariseLoad } from '../../src/load/load-summary.ts';
import type { StoredLoad } from '../../src/storage/loads.ts';
import { decisionOf, LEAVE } from '../support/decisions.ts';
import { verificationOf } from '../support/verification.ts';
import { cached, loadOf, loadsTaking, requestOf, START_MS } from './stored-loads.ts';

const ORIGIN = 'https://page.test';
const idsOf = (load: ReturnType<typeof loadOf>, all: ReturnType<typeof loadOf>[]) =>
  findComparableLoads(load, all).map(({ id }) => id);
const local = { requests: [requestOf(0, { remoteIp: '10.0.0.1' })] };

test('loads of the same page before it are comparable', () => {
  const all = [
    loadOf(1),
    loadOf(2, { recording: { url: 'https://other.test/' } }),
    loadOf(3),
    loadOf(4),
    loadOf(5),
  ];
  expect(idsOf(all[3]!, all)).toEqual([1, 3]);
});

test('URLs without their query strings are of one page', () => {
  const first = loadOf(1, { hidesQueries: true, recording: { url: `${ORIGIN}/?1` } });
  const second = loadOf(2, { hidesQueries: true, recording: { url: `${ORIGIN}/?2` } });
  expect(idsOf(second, [first, second])).toEqual([1]);
  const stored = { ...first, hidesQueries: false };
  expect(idsOf({ ...second, hidesQueries: false }, [stored])).toEqual([]);
});

test.each([
  ['on another network', [loadOf(1), loadOf(2, { cluster: null }), loadOf(3)], [2]],
  ['of which the network was forgotten', [loadOf(1, { cluster: null }), loadOf(3, { cluster: null })], []],
  ['on this machine', [loadOf(1, { recording: local }), loadOf(3)], []],
  [
    'that came from the cache',
    [loadOf(1, { recording: { requests: [requestOf(0), cached(1), cached(2)] } }), loadOf(3)],
    [],
  ],
  ['of three days ago', [loadOf(1), loadOf(1 + 3 * 24)], []],
])('loads %s are not', (_words, all, ids) => {
  expect(idsOf(all.at(-1)!, all)).toEqual(ids);
});

describe('loads since the page last began to take another time', () => {
  const taking = (times: number[]) =>
    selectSinceChange(loadsTaking(times)).map(({ recording }) => recording.pltMs);
  const usual = [800, 830, 790, 810, 780, 820];

  test.each([
    ['are all where it did not', usual, usual],
    ['are all where one load took longer', [...usual, 1700], [...usual, 1700]],
    ['are all where one load took many times as long', [...usual, 6000], [...usual, 6000]],
    ['are all where one load took a small part', [...usual, 100], [...usual, 100]],
    ['begin with the first of two that took many times as long', [...usual, 6000, 6100], [6000, 6100]],
    [
      'begin with the first of three that took twice as long',
      [...usual, 1600, 1500, 1650],
      [1600, 1500, 1650],
    ],
    [
      'begin with the faster ones where it takes less time again',
      [...usual, 1600, 1500, 1650, 800, 820, 790],
      [800, 820, 790],
    ],
    [
      'begin where loads took a quarter longer several times',
      [...usual, 1020, 1010, 1040, 1030],
      [1020, 1010, 1040, 1030],
    ],
    [
      'are all where times scatter as widely',
      [800, 1500, 900, 1700, 850, 1600, 1650],
      [800, 1500, 900, 1700, 850, 1600, 1650],
    ],
  ])('%s', (_words, times, since) => {
    expect(taking(times)).toEqual(since);
  });

  test('alone are evidence of what it takes', async () => {
    const all = loadsTaking([...usual, 1600, 1500, 1650]);
    const knowledge = await collectKnowledge(all.at(-1)!, all, async (id) =>
      all.find((each) => each.id === id),
    );
    expect(knowledge.loads).toMatchObject([{ under: 'browser', pltMs: [1600, 1500] }]);
  });

  test('are all before one that takes many times as long: it may have been disturbed', async () => {
    const all = loadsTaking([...usual, ...usual, 6000]);
    const knowledge = await collectKnowledge(all.at(-1)!, all, async (id) =>
      all.find((each) => each.id === id),
    );
    expect(knowledge.loads).toMatchObject([{ under: 'browser', pltMs: [...usual, ...usual] }]);
  });
});

test('loads on a network that is recognised are comparable across a stay on another one', () => {
  const [home, train] = ['home', 'train'].map((networkKey) => ({ networkKey }));
  const all = [
    loadOf(1, { ...home, cluster: null }),
    loadOf(2, home),
    loadOf(3, { ...train, cluster: null }),
    loadOf(4, { cluster: null }),
    loadOf(5, home),
    loadOf(6, train),
    loadOf(7),
  ];
  expect(all.slice(4).map((load) => idsOf(load, all))).toEqual([[1, 2], [3], [4]]);
});

test('loads from private addresses are compared with each other, although they have no network summary', () => {
  const all = [1, 2, 3].map((id) => loadOf(id, { cluster: null, recording: local }));
  expect(idsOf(all[2]!, all)).toEqual([1, 2]);
});

test('a pinned load of an unknown network is compared with loads from private addresses, and they with it', () => {
  const pinned = { pinned: { [ORIGIN]: 'h2' as const }, network: 'unknown' as const };
  const all = [
    loadOf(1, { cluster: null, recording: local }),
    loadOf(2, { cluster: null, ...pinned }),
    loadOf(3, { cluster: null, recording: local }),
  ];
  expect(idsOf(all[1]!, all)).toEqual([1]);
  expect(idsOf(all[2]!, all)).toEqual([1, 2]);
});
/** As the worker does: of other loads it has the summaries. */
const collect = (load: StoredLoad, all: readonly StoredLoad[]) =>
  collectKnowledge(load, all.map(summariseLoad), async (id) => all.find((each) => each.id === id));

test('measured loads are grouped by the pins that were active', async () => {
  const pinned = { [ORIGIN]: 'h2' as const };
  const all = [
    ...loadsTaking([4200, 4300]),
    ...loadsTaking([2300], 3, { pinned }),
    ...loadsTaking([4400], 4),
  ];
  const load = loadOf(6, { pinned });
  const knowledge = await collect(load, [...all, load]);
  expect(knowledge.loads).toEqual([
    { under: 'browser', pltMs: [4200, 4300, 4400], ageMs: 2 * HOUR_MS },
    { under: pinned, pltMs: [2300], ageMs: 3 * HOUR_MS },
  ]);
  expect(knowledge.pinned).toEqual(pinned);
});

test('a first visit is no evidence of what later ones take', async () => {
  const overH3 = { requests: [requestOf(0, { protocol: 'h3' })] };
  const all = [...loadsTaking([1142]), ...loadsTaking([7620, 7700], 2, { recording: overH3 })];
  expect((await collect(all[2]!, all)).loads).toMatchObject([{ under: 'browser', pltMs: [7620] }]);
  const pinned = loadOf(4, { pinned: { [ORIGIN]: 'h2' } });
  expect((await collect(pinned, [...all, pinned])).loads).toMatchObject([{ pltMs: [7620, 7700] }]);
});

test('a load that was slowed is no evidence', async () => {
  const all = loadsTaking([1000, 900, 5000, 1100]);
  expect((await collect(loadOf(9), all)).loads).toMatchObject([{ pltMs: [1000, 900, 1100] }]);
});

test('the newest decision and verification of comparable loads are known', async () => {
  const predicted = (verdict: string) => ({ decision: decisionOf([LEAVE], { verdict }) }) as Prediction;
  const verification = verificationOf();
  const all = [
    loadOf(1, { prediction: predicted('first'), verification, verifiedPrediction: predicted('verified') }),
    loadOf(2, { prediction: {} as Prediction }),
    loadOf(3),
  ];
  expect(await collect(all[2]!, all)).toMatchObject({ verification, earlier: { verdict: 'verified' } });
  const own = verificationOf({ engine: 'own' });
  expect((await collect(loadOf(4, { verification: own }), all)).verification).toBe(own);
});

test('a first load has no evidence', async () => {
  expect(await collect(loadOf(1), [loadOf(1)])).toEqual({ loads: [], earlier: null, pinned: {} });
});

/** A load that takes one second. */
const over = (...protocols: (Protocol | null)[]): Recording =>
  loadOf(1, {
    recording: {
      recordedAt: new Date(START_MS).toISOString(),
      requests: protocols.map((protocol, id) => requestOf(id, { protocol })),
    },
  }).recording;

const periodOf = (more: Partial<PinPeriod> = {}): PinPeriod => ({
  origin: ORIGIN,
  kind: 'avoid-h3',
  allowsLocal: false,
  sinceMs: START_MS - 1,
  endedMs: null,
  ...more,
});

test.each([
  ['avoid-h3' as const, 'h2' as const, 'h2'],
  ['avoid-h3' as const, 'h1' as const, 'h1'],
  ['avoid-h3' as const, null, 'h2'],
  ['h3' as const, 'h2' as const, 'h3'],
])('a pin %s of an origin that used %s held it to %s', (kind, protocol, held) => {
  const periods = [periodOf({ kind }), periodOf({ origin: 'https://elsewhere.test', kind })];
  expect(findPinnedProtocols(over(protocol), periods)).toEqual({ [ORIGIN]: held });
});

test.each([
  ['began during it', periodOf({ sinceMs: START_MS + 1 }), null],
  ['ended during it', periodOf({ endedMs: START_MS + 999 }), null],
  ['ended after it', periodOf({ endedMs: START_MS + 1000 }), { [ORIGIN]: 'h2' }],
  ['ended before it', periodOf({ endedMs: START_MS }), {}],
  ['began after it', periodOf({ sinceMs: START_MS + 1001 }), {}],
])(
  'a load is with a pin that held all the time, and without one that never did: one that %s',
  (_, period, held) => {
    const load = over('h2');
    expect(findPinnedProtocols(load, findPeriodsDuring(load, [period]))).toEqual(held);
  },
);

test('a load that used HTTP/3 in spite of a pin is neither with it nor without', () => {
  expect(findPinnedProtocols(over('h2', 'h3'), [periodOf()])).toBeNull();
});

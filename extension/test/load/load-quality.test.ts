import { describe, expect, test } from 'vitest';
import { findComparableLoads, judgeAmong } from '../../src/evidence/comparable-loads.ts';
import { judgeLoad } from '../../src/load/load-quality.ts';
import { summariseLoad } from '../../src/load/load-summary.ts';
import { cached, loadOf, loadsTaking, requestOf, waiting } from '../evidence/stored-loads.ts';

const confirmed = (id: number) => requestOf(id, { transferBytes: 300 });
const withRequests = (...requests: ReturnType<typeof requestOf>[]) => loadOf(1, { recording: { requests } });

test.each([
  ['full when everything came over the network', loadOf(1), 'full'],
  ['full with a few files from the cache', withRequests(requestOf(0), requestOf(1), cached(2)), 'full'],
  [
    'cached when most requests were answered from the cache',
    withRequests(requestOf(0), cached(1), cached(2)),
    'cached',
  ],
  [
    'cached when most were only confirmed by the server',
    withRequests(requestOf(0), confirmed(1), confirmed(2)),
    'cached',
  ],
  [
    'cached when most bytes came from the cache',
    withRequests(requestOf(0), requestOf(1), { ...cached(2), decodedBytes: 90_000 }),
    'cached',
  ],
  [
    'cached when the browser had its document already',
    withRequests(cached(0), requestOf(1), requestOf(2), requestOf(3)),
    'cached',
  ],
  ['an error when a busy server refused the page', withRequests(requestOf(0, { status: 503 })), 'error'],
  [
    'full when it refuses it each time',
    { ...withRequests(requestOf(0, { status: 404 })), answersAlike: true },
    'full',
  ],
  ['a form’s when the page is the answer to one', withRequests(requestOf(0, { method: 'POST' })), 'form'],
  [
    'full when the answer to a form led to the page',
    withRequests(requestOf(0, { method: 'POST', status: 303 }), requestOf(0), requestOf(1)),
    'full',
  ],
  [
    'full when the server redirected to the page',
    withRequests(requestOf(0, { status: 302 }), requestOf(0), requestOf(1)),
    'full',
  ],
  [
    'full without what is missing in the page',
    withRequests(requestOf(0), requestOf(1, { status: 404 })),
    'full',
  ],
  ['partial without a load event', loadOf(1, { recording: { pltMs: null } }), 'partial'],
  [
    'of the background when its tab was hidden and never painted',
    loadOf(1, { wasVisible: false, recording: { firstContentfulPaintMs: null } }),
    'background',
  ],
  [
    'of the background when its tab was hidden at first, and never painted',
    loadOf(1, { wasHidden: true, recording: { firstContentfulPaintMs: null } }),
    'background',
  ],
  ['full when its tab was shown before it had loaded', loadOf(1, { wasHidden: true }), 'full'],
  [
    'of the background when its tab was hidden until it had loaded',
    loadOf(1, { wasHidden: true, recording: { firstContentfulPaintMs: 1100 } }),
    'background',
  ],
  ['full when its tab was left after it had loaded', loadOf(1, { wasVisible: false }), 'full'],
  [
    'of the background when its tab was left while it loaded',
    loadOf(1, { wasVisible: false, endedHidden: true }),
    'background',
  ],
  [
    'full when a shown page painted nothing',
    loadOf(1, { recording: { firstContentfulPaintMs: null } }),
    'full',
  ],
  ['disturbed when requests failed', withRequests(requestOf(0), requestOf(1, { status: 0 })), 'disturbed'],
  ['disturbed when pins changed meanwhile', loadOf(1, { pinned: null }), 'disturbed'],
])('a load is %s', (_words, load, kind) => {
  expect(judgeLoad(load).kind).toBe(kind);
});

test('a load’s quality has the number of requests over the network', () => {
  const requests = [requestOf(0), confirmed(1), cached(2), requestOf(3)];
  expect(judgeLoad(loadOf(1, { recording: { requests } }))).toMatchObject({
    networkRequests: 2,
    requests: 4,
  });
});

test.each([
  ['three times as slow as the loads before it', [1000, 900, 1100], 3100, 'disturbed'],
  ['not that slow', [1000, 900, 1100], 2900, 'full'],
  ['the second slow one in a row', [1000, 900, 1100, 3200], 3100, 'full'],
  ['slow, with too few to compare', [1000, 900], 3100, 'full'],
])('a load that is %s', (_words, before, pltMs, kind) => {
  expect(judgeAmong(loadOf(9, { recording: { pltMs } }), loadsTaking(before))).toBe(kind);
});

test('a load with pins is not compared with loads without', () => {
  const pinned = { 'https://page.test': 'h2' as const };
  const load = loadOf(9, { pinned, recording: { pltMs: 3100 } });
  expect(judgeAmong(load, loadsTaking([1000, 900, 1100]))).toBe('full');
});

describe('a load whose responses waited for other traffic on the link', () => {
  const beside = (id: number, waitMs = 150) => loadOf(id, { recording: { requests: waiting(waitMs) } });
  const quiet = loadsTaking([1000, 1000]);

  test.each([
    ['disturbed', beside(3), quiet, 'disturbed'],
    ['full where they waited hardly longer', beside(3, 79), quiet, 'full'],
    ['full where nothing shows what is usual', beside(3), [], 'full'],
    ['full where the loads before it waited as long', beside(3), [beside(1), beside(2)], 'full'],
  ])('is %s', (_words, load, before, kind) => {
    expect(judgeAmong(load, before)).toBe(kind);
  });

  test('is none to compare others with, unless most before it waited as long', () => {
    const all = [...quiet, ...[3, 4, 5, 6].map((id) => beside(id))];
    expect(findComparableLoads(loadOf(9), all).map(({ id }) => id)).toEqual([1, 2, 5, 6]);
    // Each is judged alike when it comes and afterwards.
    expect(all.filter((load) => judgeAmong(load, all) === 'full').map(({ id }) => id)).toEqual([1, 2, 5, 6]);
  });
});

describe('a load beside those of other tabs', () => {
  const shared = (id: number, overlap = 0.26, pltMs = 2000) => loadOf(id, { overlap, recording: { pltMs } });
  const alone = loadsTaking([1000, 1000]);

  test.each([
    ['shared, though nothing shows what is usual', shared(3), [], 'shared'],
    ['full where they loaded for less of its time', shared(3, 0.25), alone, 'full'],
    ['shared after one like it', shared(3), [shared(2)], 'shared'],
    ['full after two like it, as the page is always opened so', shared(3), [shared(1), shared(2)], 'full'],
    ['shared where one before it was alone', shared(4), [loadOf(1), shared(2), shared(3)], 'shared'],
    ['cached where it is that', { ...withRequests(cached(0)), overlap: 1 }, [], 'cached'],
  ])('is %s', (_words, load, before, kind) => {
    expect(judgeAmong(load, before)).toBe(kind);
  });

  test('is none to compare others with', () => {
    const all = [...alone, shared(3), shared(4), shared(5), loadOf(6)];
    expect(findComparableLoads(loadOf(9), all).map(({ id }) => id)).toEqual([1, 2, 6]);
    // Alike in what is read after each load.
    expect(findComparableLoads(loadOf(9), all.map(summariseLoad)).map(({ id }) => id)).toEqual([1, 2, 6]);
  });

  test('is one to compare others like it with where all are so, and none for a load alone', () => {
    const all = [1, 2, 3, 4].map((id) => shared(id));
    expect(findComparableLoads(shared(9), all).map(({ id }) => id)).toEqual([3, 4]);
    expect(findComparableLoads(loadOf(9), all)).toEqual([]);
  });

  test('begins no network, as it is not learned', () => {
    const all = [...alone, { ...shared(3), cluster: null, network: 'internet' as const }];
    expect(findComparableLoads(loadOf(9), all).map(({ id }) => id)).toEqual([1, 2]);
  });
});

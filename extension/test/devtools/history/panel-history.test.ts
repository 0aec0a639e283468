/** What the panel's History reads from stored loads. */
import { learnNetwork } from '@hopwise/pageload-emulator';
import { Window } from 'happy-dom';
import { describe, expect, test, vi } from 'vitest';
import { PooledNetwork } from '../../../src/devtools/emulation/pooled-network.ts';
import { listDifferences } from '../../../src/devtools/history/differences.ts';
import { matchRequests } from '../../../src/devtools/history/match-requests.ts';
import { describePins, describeProtocols, readHistory } from '../../../src/devtools/history/page-history.ts';
import { findTrend } from '../../../src/devtools/history/trend.ts';
import { cached, loadOf, loadsTaking, PAGE, requestOf } from '../../evidence/stored-loads.ts';
import { largePage } from '../../support/large-page.ts';

const pinned = { 'https://page.test': 'h2' as const };

describe('readHistory', () => {
  test('lists the loads of the page alone, the newest first', () => {
    const all = [
      ...loadsTaking([900, 1000]),
      loadOf(3, { requestedUrl: 'https://other.test/', recording: { url: 'https://other.test/' } }),
      loadOf(4),
    ];
    expect(readHistory(all[1]!, all).loads.map(({ id }) => id)).toEqual([4, 2, 1]);
  });

  test('groups full loads by their pins, with what the pins gained', () => {
    const all = [...loadsTaking([4200, 4300, 4400]), ...loadsTaking([2200, 2400], 4, { pinned })];
    const { groups, comparable } = readHistory(all.at(-1)!, all);
    expect(comparable).toHaveLength(5);
    expect(groups).toMatchObject([
      { pinned: {}, medianMs: 4300, lowestMs: 4200, highestMs: 4400, outcome: null },
      { pinned, medianMs: 2300, outcome: { beforeLoads: 3, afterLoads: 2, effect: 'gains' } },
    ]);
  });

  test('a load from the cache is listed, and in no group', () => {
    const all = [loadOf(1), loadOf(2, { recording: { requests: [requestOf(0), cached(1), cached(2)] } })];
    const { loads, comparable } = readHistory(all[1]!, all);
    expect([loads.length, comparable.map(({ id }) => id)]).toEqual([2, [1]]);
  });

  test('a load from a file is beside the stored ones of its page, and in no group', () => {
    const opened = loadOf(-1, { recording: { recordedAt: '2020-01-01T00:00:00Z' } });
    const { loads, comparable } = readHistory(opened, loadsTaking([900, 1000]));
    expect(loads.map(({ id }) => id)).toEqual([2, 1, -1]);
    expect(comparable.map(({ id }) => id)).toEqual([1, 2]);
  });
});

test('the trend has the loads in order of time, with pins and networks', () => {
  const loads = [
    // Without a summary of earlier loads: on another network than the load before.
    loadOf(4, { cluster: null, network: 'internet', recording: { pltMs: 700 } }),
    ...loadsTaking([1000, 800], 2, { pinned }),
    loadOf(1),
    loadOf(5, { recording: { pltMs: null } }),
    loadOf(6, { network: 'internet', recording: { requests: [requestOf(0), cached(1), cached(2)] } }),
  ];
  const figures = findTrend(loads).map(({ load, pltMs, isPinned, isFull, network }) => [
    load.id,
    pltMs,
    isPinned,
    isFull,
    network,
  ]);
  expect(figures).toEqual([
    [1, 1000, false, true, 'A'],
    [2, 1000, true, true, 'A'],
    [3, 800, true, true, 'A'],
    [4, 700, false, true, 'B'],
    [6, 1000, false, false, 'B'],
  ]);
  const known = findTrend([
    loadOf(1, { networkKey: 'home' }),
    loadOf(2, { networkKey: 'office' }),
    loadOf(3, { networkKey: 'home' }),
  ]);
  expect(known.map(({ network }) => network)).toEqual(['A', 'B', 'A']);
});

test('the legend of the trend has the figures of each network, once where a network returns', async () => {
  const window = new Window();
  vi.stubGlobal('window', window);
  vi.stubGlobal('document', window.document);
  const { renderTrend } = await import('../../../src/devtools/history/trend-view.ts');
  const points = findTrend(['home', 'office', 'home'].map((networkKey, id) => loadOf(id, { networkKey })));
  const legend = renderTrend(points, 600, new Map([['A', '29 ms, 20 Mbit/s']])).querySelectorAll('li');
  expect([...legend].map((item) => item.textContent).slice(2)).toEqual([
    'network A: 29 ms, 20 Mbit/s',
    'network B: unknown',
  ]);
  vi.unstubAllGlobals();
});

test('the list of loads has its load times in one unit', async () => {
  const window = new Window();
  vi.stubGlobal('document', window.document);
  const { LoadsTable } = await import('../../../src/devtools/history/loads-table.ts');
  const { element } = new LoadsTable(loadsTaking([4300, 900]), 1, () => {});
  const times = [...element.querySelectorAll('td:nth-child(5)')].map(({ textContent }) => textContent);
  expect(times).toEqual(['4.3 s', '0.9 s']);
  vi.unstubAllGlobals();
});

test('requests are matched without query strings, alike ones in their order', () => {
  const page = (urls: string[]) =>
    loadOf(1, { recording: { requests: urls.map((url, id) => requestOf(id, { url: PAGE + url })) } })
      .recording;
  const { earlierOf, earlierOnly, laterOnly } = matchRequests(
    page(['', 'a?1', 'a?2', 'gone']),
    page(['', 'a?7', 'new', 'a?8']),
  );
  expect([...earlierOf].map(([id, request]) => [id, request.url])).toEqual([
    [0, PAGE],
    [1, `${PAGE}a?1`],
    [3, `${PAGE}a?2`],
  ]);
  expect([earlierOnly[0]!.url, laterOnly[0]!.url]).toEqual([`${PAGE}gone`, `${PAGE}new`]);
});

test('differences state what has changed', () => {
  const [earlier] = loadsTaking([2400]);
  const later = loadOf(2, { pinned, recording: { pltMs: 1900, requests: [requestOf(0), cached(1)] } });
  const changes = listDifferences(earlier!, later).filter(({ change }) => change !== '');
  expect(changes.map(({ name, change }) => [name, change])).toEqual([
    ['Load event', '−500 ms'],
    ['Requests', '−2'],
    ['From the cache', '+1'],
    // 4 × 10,300 bytes, then 10,300.
    ['On the wire', '−31 kB'],
    ['Protocols', 'differs'],
    ['Pins', 'differs'],
  ]);
});

test.each([
  // 10 and 8.4 s are shown, 2.0 s they differ by.
  [10_480, 8_436, '−1.6 s'],
  [888, 1_372, '+500 ms'],
  [568, 896, '+328 ms'],
  // Both are shown as 1.9 s.
  [1_880, 1_900, '+20 ms'],
])('times of %d and %d ms differ by what is shown: %s', (earlierMs, laterMs, change) => {
  const [earlier, later] = loadsTaking([earlierMs, laterMs]);
  expect(listDifferences(earlier!, later!)[0]).toMatchObject({ change });
});

test('pins and protocols in words', () => {
  const many = Object.fromEntries([1, 2, 3].map((n) => [`https://${n}.test`, n < 3 ? 'h2' : 'h3'] as const));
  expect([null, undefined, {}, pinned, many].map(describePins)).toEqual([
    'changed during the load',
    'no pins',
    'no pins',
    'page.test on HTTP/2',
    '2 origins on HTTP/2, 1 origin on HTTP/3',
  ]);
  expect(describeProtocols(loadOf(1).recording)).toBe('4 HTTP/2');
});

test('a pooled network has the median and the 10th and 90th percentile of what its loads show together', () => {
  const page = largePage(60);
  const pooled = new PooledNetwork();
  pooled.add(page);
  const { loads, rttMs, downMbps } = pooled.add(page);
  const learned = learnNetwork(learnNetwork(null, page), page);
  expect(loads).toBe(2);
  const { mean, spread } = learned.rttMs;
  expect(rttMs.median).toBeCloseTo(Math.exp(mean), 9);
  expect(rttMs.low).toBeCloseTo(Math.exp(mean - 1.2816 * spread), 9);
  expect(rttMs.high).toBeCloseTo(Math.exp(mean + 1.2816 * spread), 9);
  // Mbit/s of bit/s
  expect(downMbps.median).toBeCloseTo(Math.exp(learned.downBps.mean) / 1e6, 9);
});

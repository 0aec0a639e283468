import type { NetworkCluster } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { deservesRest } from '../../src/background/deserves-rest.ts';
import type { StoredLoad } from '../../src/storage/loads.ts';
import { cached, loadOf, loadsTaking, requestOf } from '../evidence/stored-loads.ts';

const light = { isDetailed: false };
const OVER_H3 = { requests: [requestOf(0), requestOf(1, { protocol: 'h3' })] };
const networkWith = (open: number) =>
  ({ loads: 3, udp: { open, policed: 1 - open, blocked: 0 } }) as NetworkCluster;
const OPEN = networkWith(0.99);

/** Whether the host rests after the last of these loads. */
const rests = (loads: StoredLoad[], known: NetworkCluster | null = null) =>
  deservesRest(loads.at(-1)!, loads, known);

test('a host rests after its third ordinary load on a network', () => {
  const loads = loadsTaking([900, 950, 900], 1, light);
  expect(rests(loads.slice(0, 2))).toBe(false);
  expect(rests(loads)).toBe(true);
  const elsewhere = loads.map((load, index) => (index === 0 ? { ...load, networkKey: 'other' } : load));
  expect(rests(elsewhere)).toBe(false);
});

test('other pages of the host count, pages of other hosts do not', () => {
  const others = (url: string) =>
    loadsTaking([900, 900], 1, { ...light, recording: { url, requests: [requestOf(0, { url })] } });
  const [last] = loadsTaking([900], 3, light);
  expect(rests([...others('https://page.test/other'), last!])).toBe(true);
  expect(rests([...others('https://elsewhere.test/'), last!])).toBe(false);
});

test('where HTTP/3 is used, or may be, the network has to be known to leave UDP alone', () => {
  const hidden = { requests: [requestOf(0), requestOf(1, { protocol: null })] };
  for (const recording of [OVER_H3, hidden]) {
    const loads = loadsTaking([900, 950, 900], 1, { ...light, recording });
    expect(rests(loads, null)).toBe(false);
    expect(rests(loads, networkWith(0.94))).toBe(false);
    expect(rests(loads, networkWith(0.001))).toBe(false);
    expect(rests(loads, OPEN)).toBe(true);
  }
});

test('a page that takes longer than before goes on being recorded, one that always takes long does not', () => {
  expect(rests(loadsTaking([8200, 8100, 8200], 1, light), OPEN)).toBe(true);
  expect(rests(loadsTaking([1100, 1200, 2400], 1, light), OPEN)).toBe(false);
  expect(rests(loadsTaking([1100, 1200, 1150], 1, light), OPEN)).toBe(true);
});

test.each<[string, Parameters<typeof loadOf>[1], boolean]>([
  [
    'that came from the cache for the most part',
    { recording: { requests: [requestOf(0), cached(1), cached(2)] } },
    true,
  ],
  ['that was answered with an error', { recording: { requests: [requestOf(0, { status: 404 })] } }, true],
  ['that was recorded in detail', { isDetailed: true }, false],
  ['without a load event', { recording: { pltMs: null } }, false],
  ['amid which pins changed', { pinned: null }, false],
  [
    'from a server on this machine',
    { recording: { requests: [requestOf(0, { remoteIp: '127.0.0.1' })] } },
    false,
  ],
])('a load %s', (_words, more, expected) => {
  const before = loadsTaking([900, 950], 1, light);
  expect(rests([...before, loadOf(3, { ...light, ...more })], OPEN)).toBe(expected);
});

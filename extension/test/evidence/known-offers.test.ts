import type { Prediction } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { addKnownOffers, addPredictedOffers } from '../../src/evidence/known-offers.ts';
import { loadOf, requestOf } from './stored-loads.ts';

const OTHER = 'https://other.test/';
const over = (protocol: 'h2' | 'h3', url?: string, offersH3: boolean | null = null) =>
  requestOf(url === undefined ? 0 : 1, { protocol, offersH3, ...(url !== undefined && { url }) });
const offersOf = (load: ReturnType<typeof loadOf>, all: ReturnType<typeof loadOf>[]) =>
  addKnownOffers(load, all).requests.map(({ offersH3 }) => offersH3);

test('an origin that another load used over HTTP/3 is known to offer it', () => {
  const before = loadOf(1, { recording: { requests: [over('h3'), over('h2', OTHER)] } });
  const load = loadOf(2, { recording: { requests: [over('h2'), over('h2', OTHER)] } });
  expect(offersOf(load, [before, load])).toEqual([true, null]);
  expect(load.recording.requests[0]!.offersH3).toBeNull();
});

test('what headers say is left as it is', () => {
  const before = loadOf(1, { recording: { requests: [over('h3')] } });
  const load = loadOf(2, { recording: { requests: [over('h2', undefined, false)] } });
  expect(offersOf(load, [before, load])).toEqual([false]);
});

test('loads on another network show nothing', () => {
  const before = loadOf(1, { networkKey: 'home', recording: { requests: [over('h3')] } });
  const load = loadOf(2, { networkKey: 'train', recording: { requests: [over('h2')] } });
  expect(offersOf(load, [before, load])).toEqual([null]);
});

test('a prediction tells of the offers that it rests on', () => {
  const { recording } = loadOf(2, { recording: { requests: [over('h2'), over('h2', OTHER)] } });
  const protocols = { [new URL(recording.url).origin]: 'h3', [new URL(OTHER).origin]: 'h2' } as const;
  const prediction = { decision: { baseline: { protocols } } } as unknown as Prediction;
  const { requests } = addPredictedOffers(recording, prediction);
  expect(requests.map(({ offersH3 }) => offersH3)).toEqual([true, null]);
});

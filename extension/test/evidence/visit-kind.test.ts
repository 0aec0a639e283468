import type { Protocol, RecordedRequest } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { Visits } from '../../src/evidence/visit-kind.ts';
import { summariseLoad } from '../../src/load/load-summary.ts';
import { cached, loadOf, requestOf } from './stored-loads.ts';

const SITE = 'https://page.test';
const CDN = 'https://cdn.test';

/** A load whose requests used these protocols, as the light recording shows it: without what servers offer. */
function loadOver(
  id: number,
  protocols: readonly (Protocol | null)[],
  more: Parameters<typeof loadOf>[1] = {},
) {
  const requests = protocols.map((protocol, index) => requestOf(index, { protocol, startMs: 10 * index }));
  return loadOf(id, { isDetailed: false, ...more, recording: { requests, ...more.recording } });
}
const offering = (offersH3: boolean | null, more: Partial<RecordedRequest> = {}) =>
  [0, 1].map((index) => requestOf(index, { offersH3, ...more }));
const kindsOf = (loads: ReturnType<typeof loadOf>[]) => {
  const visits = new Visits(loads.map(summariseLoad));
  return loads.map((load) => visits.judge(load));
};

test('a load over HTTP/2 was a first visit where another one is over HTTP/3', () => {
  expect(kindsOf([loadOver(1, ['h2', 'h2']), loadOver(2, ['h3', 'h3'])])).toEqual(['first', 'later']);
  // Alt-Svc was forgotten.
  expect(kindsOf([loadOver(1, ['h3', 'h3']), loadOver(2, ['h2', 'h2'])])).toEqual(['later', 'first']);
});

test('a load that changes to HTTP/3 on the way is a first visit', () => {
  expect(kindsOf([loadOver(1, ['h2', 'h2', 'h2', 'h3', 'h3', 'h3', 'h3'])])).toEqual(['first']);
});

test('a later visit may begin over TCP here and there, where that won the race', () => {
  expect(kindsOf([loadOver(1, ['h3', 'h2', 'h3', 'h3', 'h3', 'h3'])])).toEqual(['later']);
  expect(kindsOf([loadOver(1, ['h2', 'h3', 'h3', 'h3', 'h3', 'h3'])])).toEqual(['later']);
});

test('a new server beside those that are known makes no first visit', () => {
  const url = `${CDN}/ad.js`;
  const requests = [
    ...[0, 1, 2].map((id) => requestOf(id, { protocol: 'h3' })),
    requestOf(3, { url, protocol: 'h2' }),
    requestOf(4, { url, protocol: 'h3' }),
  ].map((request, id) => ({ ...request, startMs: 10 * id }));
  expect(kindsOf([loadOf(1, { recording: { requests } })])).toEqual(['later']);
});

test.each([
  ['offers may not have been seen', offering(null), 'first'],
  ['a server offered HTTP/3', offering(true), 'first'],
  ['no server offered HTTP/3', offering(false), 'later'],
  ['HTTP/3 is not possible', offering(null, { url: 'http://page.test/', protocol: 'h1' }), 'later'],
  ['everything came from the cache', [cached(0), cached(1)], 'later'],
])('a load without another one to compare with, of which %s: %s', (_words, requests, kind) => {
  expect(kindsOf([loadOf(1, { recording: { requests } })])).toEqual([kind]);
});

test('where HTTP/3 is never used, as UDP is blocked, all loads of a site are alike', () => {
  const load = (id: number, url = `${SITE}/`) => loadOf(id, { recording: { requests: offering(true), url } });
  expect(kindsOf([load(1), load(2, `${SITE}/next`)])).toEqual(['later', 'later']);
  expect(kindsOf([load(1), load(2, 'https://other.test/')])).toEqual(['first', 'first']);
});

test('a load before a pin stays a first visit; one after it is a later visit', () => {
  const pinned = loadOver(2, ['h2', 'h2'], { pinned: { [SITE]: 'h2' } });
  expect(kindsOf([loadOver(1, ['h2', 'h2']), pinned])).toEqual(['first', 'later']);
  expect(kindsOf([pinned, loadOver(3, ['h2', 'h2'])])).toEqual(['later', 'later']);
  const disturbed = loadOver(2, ['h2', 'h2'], { pinned: null });
  expect(kindsOf([loadOver(1, ['h2', 'h2']), disturbed])).toEqual(['first', 'later']);
});

test('what a pin keeps off HTTP/3 does not make a first visit', () => {
  const pinned = loadOver(2, ['h2', 'h2'], { pinned: { [SITE]: 'h2' } });
  expect(kindsOf([loadOver(1, ['h3', 'h3']), pinned])).toEqual(['later', 'later']);
});

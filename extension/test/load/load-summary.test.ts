import type { Prediction } from '@hopwise/contract';
import { expect, test, vi } from 'vitest';
import { findComparableLoads, visitsUntil } from '../../src/evidence/comparable-loads.ts';
import { factsOf, listResponses, summariseLoad } from '../../src/load/load-summary.ts';
import { CLUSTER, cached, loadOf, PAGE, requestOf } from '../evidence/stored-loads.ts';
import { decisionOf, LEAVE } from '../support/decisions.ts';
import { verificationOf } from '../support/verification.ts';

const CDN = 'https://cdn.test';

test('lists what came over the network, in the order in which it was requested', () => {
  const requests = [
    requestOf(0, { protocol: 'h3', startMs: 0 }),
    requestOf(1, { url: `${CDN}/late.js`, protocol: 'h1', startMs: 30 }),
    requestOf(2, { protocol: 'h2', startMs: 10 }),
    requestOf(3, { url: 'https://silent.test/', protocol: null, startMs: 5 }),
    cached(4),
  ];
  const summary = summariseLoad(loadOf(1, { recording: { requests } }));
  expect(listResponses(summary)).toEqual([
    { origin: 'https://page.test', protocol: 'h3' },
    { origin: 'https://page.test', protocol: 'h2' },
    { origin: CDN, protocol: 'h1' },
  ]);
  expect(factsOf(summary).origins).toEqual(['https://page.test', CDN, 'https://silent.test']);
});

test('has the facts of the load, as they are derived from the load itself', () => {
  const decision = decisionOf([LEAVE]);
  const load = loadOf(7, {
    prediction: { decision } as Prediction,
    verification: verificationOf(),
    networkKey: 'k',
    cluster: CLUSTER,
  });
  const summary = summariseLoad(load);
  expect(factsOf(summary)).toEqual(factsOf(load));
  expect(summary).toMatchObject({
    id: 7,
    networkKey: 'k',
    recording: { url: PAGE, pltMs: 1000 },
    facts: {
      kind: 'full',
      network: 'internet',
      hasCluster: true,
      isVerified: true,
      decision: { kind: 'leave', laterPltMs: decision.baseline.laterPltMs },
    },
  });
});

test('looks at the requests of a whole load once, however many loads it is compared with', () => {
  const load = loadOf(100);
  const look = vi.spyOn(load.recording.requests, 'filter');
  const all = Array.from({ length: 50 }, (_, id) => summariseLoad(loadOf(id)));
  expect(findComparableLoads(load, all)).not.toEqual([]);
  const looks = look.mock.calls.length;
  findComparableLoads(load, all);
  visitsUntil(load, all).judge(load);
  expect(look).toHaveBeenCalledTimes(looks);
});

test('grows by a small number for each request', () => {
  const sizeWith = (count: number) => {
    const requests = Array.from({ length: count }, (_, id) => requestOf(id));
    return JSON.stringify(summariseLoad(loadOf(1, { recording: { requests } }))).length;
  };
  expect(sizeWith(500)).toBeLessThan(sizeWith(1) + 500 * 4);
});

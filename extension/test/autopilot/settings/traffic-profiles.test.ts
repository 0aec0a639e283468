import { expect, test } from 'vitest';
import {
  classifyNetwork,
  classifyTraffic,
  type NetworkKind,
  type TrafficKind,
} from '../../../src/autopilot/settings/traffic-profiles.ts';
import { requestOf } from '../../evidence/stored-loads.ts';

const answer = (type: 'document' | 'image' | 'media' | 'fetch' | 'other', bodyBytes: number | null) =>
  requestOf(0, { type, bodyBytes });

test.each<[TrafficKind, ReturnType<typeof answer>[]]>([
  ['page', [answer('document', 60_000), answer('image', 20_000)]],
  ['media', [answer('document', 60_000), answer('media', 61_000)]],
  ['page', [answer('document', 60_000), answer('media', 60_000)]],
  ['download', [answer('document', 60_000), answer('other', 5_000_000)]],
  ['page', [answer('other', 4_999_999)]],
  ['messages', [answer('fetch', 4_096), answer('fetch', 10), answer('fetch', 10)]],
  ['page', [answer('fetch', 4_097), answer('fetch', 10), answer('fetch', 10)]],
  ['page', [answer('fetch', 10), answer('fetch', 10)]],
  ['page', [answer('fetch', null), answer('fetch', 10), answer('fetch', 10)]],
  ['page', []],
])('an origin sends traffic of kind %s', (kind, answers) => {
  expect(classifyTraffic(answers)).toBe(kind);
});

test.each<[NetworkKind, number, number, number]>([
  ['near', 49, 0.009, 0.9],
  ['distant', 50, 0.009, 0.9],
  ['lossy', 20, 0.01, 0.9],
  ['long-delay', 500, 0.01, 0.9],
  ['udp-hindered', 500, 0.01, 0.4],
])('a network is %s at %d ms and a loss of %d, where UDP is open by %d', (kind, rttMs, loss, open) => {
  const moments = (median: number) => ({ mean: Math.log(median), spread: 0.1 });
  const udp = { open, policed: (1 - open) / 2, blocked: (1 - open) / 2 };
  // Rounding of the logarithm must not decide.
  const figures = { rttMs: moments(rttMs * (1 + 1e-9)), loss: moments(loss * (1 + 1e-9)), udp };
  expect(classifyNetwork(figures as Parameters<typeof classifyNetwork>[0])).toBe(kind);
});

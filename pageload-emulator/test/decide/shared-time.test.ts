import { expect, test } from 'vitest';
import { sharedTimes } from '../../src/decide/shared-time.ts';
import { pathOf } from '../support/pages.ts';
import { randomPage, randomServers } from '../support/synthetic-loads.ts';

const graph = randomPage(1);
const path = pathOf({ rttMs: 60, downBps: 20e6 });
const servers = randomServers(graph, 1);
const sharedMs = (more: { dnsMs?: number; extraRttMs?: number }) =>
  sharedTimes(graph, [{ path, servers: servers.map((server) => ({ ...server, ...more })), seed: 1 }])[0]!;

test('looking up names takes as long under every protocol, and round trips do not', () => {
  const usualMs = sharedMs({ dnsMs: 0, extraRttMs: 0 });
  expect(sharedMs({ dnsMs: 4000, extraRttMs: 0 }) - usualMs).toBeGreaterThanOrEqual(3900);
  expect(sharedMs({ dnsMs: 0, extraRttMs: 4000 })).toBe(usualMs);
});

import { estimateNetwork } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { pageOf, pathOf, serverOf } from '../support/pages.ts';
import { recordLoad } from '../support/synthetic-loads.ts';

/** Estimates the window from one response of `bytes` on a new connection. */
function windowSeen(initialWindow: number, bytes: number, rttMs: number): number {
  const server = serverOf('https://a.test');
  const servers = [{ ...server, tcp: { ...server.tcp, initialWindow } }];
  const path = pathOf({ rttMs, downBps: 50e6, queueBytes: 1e6 });
  const recording = recordLoad(pageOf([{ bytes }]), path, servers, { 'https://a.test': 'h2' });
  return estimateNetwork(recording).servers[0]!.tcp.initialWindow;
}

describe('initial window', () => {
  // Sizes for which each window takes a different number of flights.
  it.each([
    [10, 115_000],
    [20, 115_000],
    [32, 257_000],
  ])('of %i packets is seen in the flights of a large first response', (window, bytes) => {
    for (const rttMs of [30, 80, 200]) expect(windowSeen(window, bytes, rttMs)).toBe(window);
  });

  it('of 64 packets is seen to be large', () => {
    for (const rttMs of [30, 80, 200]) expect(windowSeen(64, 257_000, rttMs)).toBeGreaterThanOrEqual(32);
  });

  it('is the usual one when the response fits into any, or the path is too short', () => {
    expect(windowSeen(64, 9_000, 80)).toBe(10);
    expect(windowSeen(64, 200_000, 2)).toBe(10);
  });
});

import type { TransferPlan, Verification } from '@hopwise/contract';
import { expect, it } from 'vitest';
import { probeTable } from '../../bin/probe-table.ts';

const PLAN: TransferPlan = {
  pageUrl: 'https://a.test/',
  userAgent: 'test',
  transfers: [
    {
      url: 'https://a.test/',
      after: [],
      delayMs: 0,
      urgency: 0,
      incremental: false,
      accept: '*/*',
      bytes: 0,
    },
  ],
};

/** The lines of a verification of one resource whose answer had a status. */
function shown(status: number): string {
  const transfer = {
    index: 0,
    protocol: 'h2' as const,
    status,
    bytes: 67,
    startMs: 0,
    dnsMs: 1,
    connectMs: 2,
    handshakeMs: 3,
    firstByteMs: 4,
    endMs: 5,
    newConnection: true,
    error: '',
  };
  const round = {
    totalMs: 5,
    bytes: 67,
    failed: 0,
    minRttMs: null,
    lossEvents: null,
    segmentsIn: null,
    retransmitted: null,
    transfers: [transfer],
  };
  const h2 = {
    unavailable: '',
    rounds: [round, round],
    medianMs: 5,
    lowMs: 5,
    highMs: 5,
    provedRequests: 1,
    answeredRequests: 1,
  };
  const verification: Verification = {
    pageUrl: 'https://a.test/',
    engine: 'libcurl',
    startedAt: '2026-01-01T00:00:00Z',
    protocols: { h2 },
    origins: [],
    udp: {
      verdict: 'unknown',
      reason: 'none',
      answered: null,
      quicBps: null,
      tcpBps: null,
      ratio: null,
      pairs: 0,
      bytes: 0,
    },
    bytes: 134,
    budgetBytes: 1000,
    leftOut: 0,
  };
  return probeTable(verification, PLAN, { resources: false });
}

it.each([
  [302, 'a redirect, which is not followed: probe the URL that it leads to'],
  [421, 'this server does not serve that host (misdirected, RFC 9110, section 15.5.20)'],
  [404, 'an error instead of the resource'],
  [503, 'an error of the server instead of the resource'],
])('names an answer of status %i once', (status, what) => {
  const lines = shown(status).split('\n');
  expect(lines.filter((line) => line.includes('answered'))).toEqual([
    `https://a.test/ answered ${status}: ${what}`,
  ]);
});

it.each([200, 204, 304])('says nothing of status %i', (status) => {
  expect(shown(status)).not.toContain('answered');
});

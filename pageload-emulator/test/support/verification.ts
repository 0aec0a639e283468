import type { Verification } from '@hopwise/contract';

/** Real transfers over a round trip of 44 ms on which QUIC was not answered. */
export const VERIFICATION: Verification = {
  pageUrl: 'https://shop.test/',
  engine: 'libcurl/8.11.0',
  startedAt: '2026-11-01T00:00:00Z',
  protocols: {},
  origins: [
    {
      origin: 'https://shop.test',
      unreachable: '',
      h3Offered: {
        altSvc: [],
        httpsRecord: { state: 'absent', alpn: [], port: null, target: '', ech: false, detail: '' },
      },
      speaks: { h2: true, h3: null },
      tcp: {
        connections: 4,
        minRttMs: 44,
        rttMs: 45,
        segmentsIn: 2_000,
        segmentsOut: 900,
        lossEvents: 2,
        retransmitted: 0,
        sendingBps: null,
      },
      quic: null,
    },
  ],
  udp: {
    verdict: 'blocked',
    reason: 'no QUIC connection came about',
    answered: false,
    quicBps: null,
    tcpBps: null,
    ratio: null,
    pairs: 0,
    bytes: 0,
  },
  bytes: 100_000,
  budgetBytes: 1_000_000,
  leftOut: 0,
};

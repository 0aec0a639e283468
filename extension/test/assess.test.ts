import type { Verification } from '@hopwise/native-host/messages';
import type { Prediction } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { hamperedUdp } from '../src/background/assess.ts';

const BYTES = 1_000_000;

function verified(times: Partial<Record<'h1' | 'h2' | 'h3', number>>): Verification {
  const protocols = Object.fromEntries(
    Object.entries(times).map(([protocol, ms]) => [
      protocol,
      {
        unavailable: '',
        medianMs: ms,
        lowMs: ms,
        highMs: ms,
        provedRequests: 1,
        answeredRequests: 1,
        rounds: [
          {
            totalMs: ms,
            bytes: BYTES,
            failed: 0,
            minRttMs: null,
            lossEvents: null,
            segmentsIn: null,
            transfers: [],
          },
        ],
      },
    ]),
  );
  return {
    pageUrl: 'https://a.test/',
    engine: '',
    startedAt: '2026-11-20T12:00:00Z',
    protocols,
    udp: 'open',
    bytes: BYTES,
  };
}

function predicted(h1: number, h2: number, h3: number | null): Prediction {
  const time = (pltMs: number) => ({ pltMs, low: pltMs, high: pltMs });
  const protocols = { h1: time(h1), h2: time(h2), h3: h3 === null ? { unavailable: 'blocked' } : time(h3) };
  return { protocols } as unknown as Prediction;
}

test('HTTP/3 far slower than the network explains: UDP is held to the rate at which the page came', () => {
  // 1 MB in 4 s is 2 Mbit/s.
  expect(hamperedUdp(verified({ h1: 800, h2: 700, h3: 4000 }), predicted(900, 800, 600))).toEqual({
    kind: 'policed',
    bps: 2e6,
  });
});

test('HTTP/3 as slow as the network explains, or fast, says nothing against UDP', () => {
  expect(hamperedUdp(verified({ h1: 800, h2: 700, h3: 1000 }), predicted(800, 700, 950))).toBeNull();
  expect(hamperedUdp(verified({ h1: 800, h2: 700, h3: 600 }), predicted(900, 800, 300))).toBeNull();
});

test('without transfers over HTTP/3 or over TCP there is nothing to compare', () => {
  expect(hamperedUdp(verified({ h1: 800, h2: 700 }), predicted(900, 800, 600))).toBeNull();
  expect(hamperedUdp(verified({ h3: 4000 }), predicted(900, 800, 600))).toBeNull();
  expect(hamperedUdp(verified({ h2: 700, h3: 4000 }), predicted(900, 800, null))).toBeNull();
});

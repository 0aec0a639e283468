import type { Verification } from '@hopwise/contract';
import { measuredBy } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { udpOf, verificationOf } from '../support/verification.ts';

function origin(tcp: Partial<NonNullable<Verification['origins'][number]['tcp']>> | null) {
  return {
    origin: 'https://a.test',
    unreachable: '',
    h3Offered: {
      altSvc: [],
      httpsRecord: { state: 'absent' as const, alpn: [], port: null, target: '', ech: false, detail: '' },
    },
    speaks: { h2: true, h3: null },
    tcp: tcp && {
      connections: 1,
      minRttMs: 20,
      rttMs: 25,
      segmentsIn: 100,
      segmentsOut: 10,
      lossEvents: 0,
      retransmitted: 0,
      sendingBps: null,
      ...tcp,
    },
    quic: null,
  };
}

test('the round-trip time is that of the nearest origin, loss is counted over all origins', () => {
  const origins = [
    origin({ minRttMs: 30, segmentsIn: 400, lossEvents: 3 }),
    origin({ minRttMs: 18, segmentsIn: 100, lossEvents: 1 }),
    origin(null),
  ];
  expect(measuredBy(verificationOf({ origins }))).toEqual({
    rttMs: 18,
    loss: { events: 4, packets: 500 },
  });
});

test('loss without queue drops replaces the count of all losses, where the rate allows to separate them', () => {
  const randomLoss = { packets: 450, events: 2, lost: 5 };
  const lossAt = (tcpBps: number) => {
    const udp = { ...udpOf('open', true), tcpBps };
    return measuredBy(verificationOf({ origins: [origin({ lossEvents: 3 })], randomLoss, udp })).loss;
  };
  expect(lossAt(5e6)).toEqual({ ...randomLoss, isRandom: true });
  expect(lossAt(4.9e6)).toMatchObject({ events: 3 });
  expect(lossAt(4.9e6)).not.toHaveProperty('isRandom');
});

test('without a connection no network figures are known', () => {
  expect(measuredBy(verificationOf())).toEqual({});
});

test('the rate limit of UDP counts whole packets, headers included', () => {
  const rates = { quicBps: 2e6, tcpBps: 20e6 };
  const udp = { ...udpOf('policed', true), ...rates };
  const measured = measuredBy(verificationOf({ udp }));
  expect(measured).toEqual({ udp: { kind: 'policed', bps: expect.closeTo(2.14e6, 0) }, reachedBps: 20e6 });
});

test.each([
  ['open', true, { kind: 'open' }],
  ['blocked', false, { kind: 'blocked' }],
  ['unknown', true, { kind: 'unblocked' }],
  ['unknown', null, undefined],
] as const)('UDP that is %s, answered: %s', (verdict, answered, expected) => {
  expect(measuredBy(verificationOf({ udp: udpOf(verdict, answered) })).udp).toEqual(expected);
});

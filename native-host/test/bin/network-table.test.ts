import type { UdpVerdict } from '@hopwise/contract';
import { expect, test } from 'vitest';
import {
  checkHead,
  checkLines,
  checkRow,
  type NetworkCheck,
  summariseChecks,
} from '../../bin/network-table.ts';

const udpOf = (verdict: UdpVerdict['verdict']): UdpVerdict => ({
  verdict,
  reason: 'HTTP/3 carries 97% (80% to 118%) of the rate',
  answered: true,
  quicBps: 23.4e6,
  tcpBps: 24e6,
  ratio: { low: 0.8, mean: 0.97, high: 1.18 },
  pairs: 1,
  bytes: 250_000,
});

function checkOf(minute: number, verdict: UdpVerdict['verdict']): NetworkCheck {
  return {
    at: `2026-11-20T12:0${minute}:30.000Z`,
    origin: 'https://shop.test',
    elapsedMs: 3_240,
    bytes: 500_000,
    measured: { rttMs: 23.04, loss: { events: 1, lost: 2, packets: 400, isRandom: true }, reachedBps: 24e6 },
    udp: udpOf(verdict),
    problem: '',
  };
}

const FAILED: NetworkCheck = {
  ...checkOf(9, 'unknown'),
  measured: null,
  udp: null,
  problem: 'cannot be reached:\u001b[2J no route',
};

test('a check says how UDP is treated first', () => {
  expect(checkLines(checkOf(0, 'open')).split('\n')).toEqual([
    'UDP: open. HTTP/3 carries 97% (80% to 118%) of the rate',
    'round trip: 23.0 ms; loss: 0.50% of 400 packets',
    'rates: HTTP/2 24.0 Mbit/s, HTTP/3 23.4 Mbit/s',
    '500 kB from https://shop.test in 3.2 s',
  ]);
});

test('losses that may be those of a full queue are called so', () => {
  const check = { ...checkOf(0, 'open'), measured: { loss: { events: 3, packets: 400 } } };
  expect(checkLines(check)).toContain(
    'round trip: -; loss: 0.75% of 400 packets, drops at full queues included',
  );
});

test('checks stand below each other, failed ones as well', () => {
  expect([checkHead(), checkRow(checkOf(1, 'policed')), checkRow(FAILED)]).toEqual([
    'time                 UDP       RTT        loss     over TCP     over UDP',
    '2026-11-20 12:01:30  policed   23.0 ms    0.50%    24.0 Mbit/s  23.4 Mbit/s',
    '2026-11-20 12:09:30  cannot be reached:?[2J no route',
  ]);
});

test('the summary says when the treatment of UDP changed', () => {
  const checks = [
    checkOf(0, 'open'),
    checkOf(1, 'unknown'),
    checkOf(2, 'open'),
    checkOf(3, 'policed'),
    FAILED,
  ];
  expect(summariseChecks(checks)).toBe('5 checks, 1 failed; UDP: open, policed from 12:03 on (UTC)');
  expect(summariseChecks([checkOf(0, 'unknown')])).toBe('1 check; how UDP is treated stayed unknown');
});

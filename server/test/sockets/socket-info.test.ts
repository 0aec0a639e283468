import { expect, it } from 'vitest';
import { hasTimedOut, parseSocket } from '../../src/sockets/socket-info.ts';

const PORTS = new Set([80]);
const COUNTS =
  'wscale:10,10 rto:244 rtt:41.5/0.522 ato:40 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:12 ssthresh:7 bytes_sent:104256 bytes_retrans:5792 bytes_acked:98465 segs_out:74 segs_in:28 data_segs_out:72 data_segs_in:1 send 3349398bps lastsnd:1044 lastrcv:124 pacing_rate 23733864bps delivery_rate 5990984bps delivered:70 busy:324ms rwnd_limited:24ms(7.4%) retrans:0/4 rcv_space:14480 minrtt:40.349 snd_wnd:79872';
const line = (local: string, peer: string, counts = COUNTS) =>
  `UNCONN 0      0      ${local} ${peer} ${counts}`;

it('reads what the kernel counted', () => {
  expect(parseSocket(line('198.19.1.1:80', '203.0.113.7:40227'), PORTS)).toEqual({
    address: '203.0.113.7',
    port: 40227,
    cwnd: 12,
    ssthresh: 7,
    rttMs: 41.5,
    rtoMs: 244,
    segmentBytes: 1448,
    bytesAcked: 98465,
    segments: 72,
    retransmitted: 4,
    busyMs: 324,
    receiverLimitedMs: 24,
    deliveryBps: 5990984,
    isIdle: true,
  });
});

it('reads endpoints of IPv6, and those of IPv4 in it', () => {
  expect(parseSocket(line('[2001:db8::1]:80', '[2001:db8:1::2]:5'), PORTS)).toMatchObject({
    address: '2001:db8:1::2',
  });
  expect(parseSocket(line('[::ffff:10.0.0.1]:80', '[::ffff:203.0.113.7]:5'), PORTS)).toMatchObject({
    address: '203.0.113.7',
  });
});

it('passes over other ports, listening sockets, those that sent nothing, and other text', () => {
  expect(parseSocket(line('198.19.1.1:443', '203.0.113.7:40227'), PORTS)).toBeNull();
  expect(parseSocket(line('198.19.1.1:80', '0.0.0.0:*'), PORTS)).toBeNull();
  expect(parseSocket(line('198.19.1.1:80', '203.0.113.7:40227', 'cwnd:10 rto:1000'), PORTS)).toBeNull();
  expect(parseSocket('', PORTS)).toBeNull();
});

it('takes a connection with data on the way for busy', () => {
  const unacked = parseSocket(line('198.19.1.1:80', '203.0.113.7:1', `${COUNTS} unacked:3`), PORTS)!;
  expect(unacked.isIdle).toBe(false);
});

it('tells a timeout from a slow path by what the transfer must have taken', () => {
  const socket = parseSocket(line('198.19.1.1:80', '203.0.113.7:40227'), PORTS)!;
  // Slow start from 10 takes 4 rounds of 41.5 ms; 98 kB at 6 Mbit/s take 131 ms: 297 ms, with a timeout 541 ms.
  expect(hasTimedOut({ ...socket, busyMs: 540 }, 10)).toBe(false);
  expect(hasTimedOut({ ...socket, busyMs: 542 }, 10)).toBe(true);
  expect(hasTimedOut({ ...socket, busyMs: 542, retransmitted: 0 }, 10)).toBe(false);
});

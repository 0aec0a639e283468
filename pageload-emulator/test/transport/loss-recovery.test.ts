import { describe, expect, it } from 'vitest';
import { PACKET } from '../../src/network/packet.ts';
import { Burst, takeLosses } from '../../src/transport/burst.ts';
import { Cubic } from '../../src/transport/congestion-control/cubic.ts';
import { Reno } from '../../src/transport/congestion-control/reno.ts';
import { ByteOrder } from '../../src/transport/head-of-line-blocking.ts';
import type { LossRecovery } from '../../src/transport/loss-recovery.ts';
import { QuicRecovery } from '../../src/transport/quic-recovery.ts';
import { RetransmissionTimer } from '../../src/transport/retransmission-timer.ts';
import { RttEstimator } from '../../src/transport/rtt-estimator.ts';
import type { Stream } from '../../src/transport/stream.ts';
import { TcpRecovery } from '../../src/transport/tcp-recovery.ts';

type Transport = 'tcp' | 'quic';

/** Round trips of 100 ms, long since steady. */
function steadyRtt(): RttEstimator {
  const rtt = new RttEstimator();
  for (let sample = 0; sample < 100; sample++) rtt.sample(100, 100);
  return rtt;
}

const stream = { order: new ByteOrder() } as Stream;

/** A burst of whole packets, some of them lost; its gap is noted. */
function sent(
  recovery: LossRecovery,
  transport: Transport,
  index: number,
  packets: number,
  lost: number[] = [],
): Burst {
  const { payloadBytes } = PACKET[transport];
  const offset = index * 1_000_000;
  const burst = new Burst();
  burst.index = index;
  burst.packets = packets;
  burst.delivered = packets - lost.length;
  burst.segments.push({
    stream,
    bytes: packets * payloadBytes,
    offset,
    ends: false,
    heldSinceMs: 0,
    next: null,
  });
  recovery.onSent(packets, (index + 1) * 100);
  if (lost.length > 0) recovery.add(takeLosses(burst, packets, lost, payloadBytes));
  burst.ackMs = 100;
  return burst;
}

function resent(recovery: LossRecovery): number {
  let bytes = 0;
  for (let next = recovery.resend.shift(); next !== null; next = recovery.resend.shift()) bytes += next.bytes;
  return bytes;
}

function tcp(window: number) {
  const control = new Cubic(window);
  const timer = new RetransmissionTimer('tcp', steadyRtt());
  return { control, timer, recovery: new TcpRecovery(control, timer) };
}

function quic(window: number) {
  const control = new Reno(window, 'quic');
  const timer = new RetransmissionTimer('quic', steadyRtt());
  return { control, timer, recovery: new QuicRecovery(control, timer) };
}

describe('TCP recovery', () => {
  it('reduces the window once until everything sent before the loss is acknowledged', () => {
    const { control, recovery } = tcp(40);
    const first = sent(recovery, 'tcp', 0, 10, [0]);
    const second = sent(recovery, 'tcp', 1, 10, [3]);
    first.inOrderBytes = 0;
    expect(recovery.onAck(first, 9, 31, 2)).toBe(1);
    expect(control.window).toBeCloseTo(28, 9);
    expect(recovery.mayGrow()).toBe(false);
    expect(recovery.onAck(second, 9, 21, 2)).toBe(1);
    expect(control.window).toBeCloseTo(28, 9);
    // 200 bytes of the order were sent by then; a retransmission that was lost again does not end it.
    const third = sent(recovery, 'tcp', 2, 2, [1]);
    third.inOrderBytes = 190;
    recovery.onAck(third, 1, 10, 3);
    expect(recovery.mayGrow()).toBe(false);
    const fourth = sent(recovery, 'tcp', 3, 2);
    fourth.inOrderBytes = 190;
    expect(recovery.onAck(fourth, 2, 8, 4)).toBe(1);
    const fifth = sent(recovery, 'tcp', 4, 1);
    fifth.inOrderBytes = 200;
    recovery.onAck(fifth, 1, 6, 5);
    expect(recovery.mayGrow()).toBe(true);
    expect(control.window).toBeCloseTo(28, 9);
  });

  it('sends 7 packets for 10 delivered ones while more than the new window is in flight', () => {
    const { recovery } = tcp(40);
    const first = sent(recovery, 'tcp', 0, 10, [0]);
    recovery.onAck(first, 9, 31, 1);
    // 31 − 1 in flight are above 28: ceil(9 · 28 / 40) = 7.
    expect(recovery.room(30)).toBe(7);
    recovery.onSent(7, 200);
    const second = sent(recovery, 'tcp', 1, 0);
    recovery.onAck(second, 10, 30, 2);
    // ceil(19 · 28 / 40) − 7 = 14 − 7.
    expect(recovery.room(30)).toBe(7);
  });

  it('sends as much as is delivered, and once that is in order twice as much, after a loss of most of a flight', () => {
    const { recovery } = tcp(40);
    const first = sent(
      recovery,
      'tcp',
      0,
      30,
      [...Array(25).keys()].map((at) => at + 2),
    );
    recovery.onAck(first, 5, 25, 1);
    expect(recovery.room(0)).toBe(5);
    recovery.onSent(5, 100);
    const second = sent(recovery, 'tcp', 1, 0);
    second.inOrderBytes = 50;
    recovery.onAck(second, 5, 0, 2);
    expect(recovery.room(0)).toBe(10);
  });

  it('probes a lost tail after two round trips, repairs the rest when the probe is acknowledged', () => {
    const { control, recovery } = tcp(20);
    sent(recovery, 'tcp', 0, 4, [0, 1, 2, 3]);
    // 2 · 100 and the slack of 8.
    expect(recovery.waitMs(4)).toBeCloseTo(208, 1);
    expect(recovery.onTimer(0, false)).toBe(1);
    expect(resent(recovery)).toBe(1_430);
    expect(recovery.room(20)).toBe(1);
    expect(control.window).toBe(20);
    const probe = sent(recovery, 'tcp', 1, 1);
    expect(recovery.onAck(probe, 1, 3, 2)).toBe(3);
    expect(control.window).toBeCloseTo(14, 9);
    expect(resent(recovery)).toBe(3 * 1_430);
  });

  it('reduces the window even when the probe repairs the only loss', () => {
    const { control, recovery } = tcp(20);
    sent(recovery, 'tcp', 0, 4, [3]);
    recovery.onTimer(0, false);
    expect(control.window).toBeCloseTo(14, 9);
    expect(recovery.mayGrow()).toBe(true);
    expect(recovery.unnoticed).toBe(false);
  });

  it('times out when the probe fails, waits twice as long each time, and starts from one packet', () => {
    const { control, recovery } = tcp(20);
    sent(recovery, 'tcp', 0, 4, [0, 1, 2, 3]);
    recovery.onTimer(0, true);
    expect(recovery.room(20)).toBe(1);
    sent(recovery, 'tcp', 1, 1, [0]);
    // 100 + 200 (RFC 6298 with Linux's floor).
    expect(recovery.waitMs(5)).toBeCloseTo(300, 1);
    expect(recovery.onTimer(0, true)).toBe(5);
    expect(control.window).toBe(1);
    expect(resent(recovery)).toBe(5 * 1_430);
    sent(recovery, 'tcp', 2, 1, [0]);
    expect(recovery.waitMs(1)).toBeCloseTo(600, 1);
  });
});

describe('QUIC recovery', () => {
  it('reduces the window once for everything sent before the reduction', () => {
    const { control, recovery } = quic(40);
    const first = sent(recovery, 'quic', 0, 10, [0]);
    const second = sent(recovery, 'quic', 1, 10, [3]);
    recovery.onAck(first, 9, 31, 2);
    expect(control.window).toBeCloseTo(28, 9);
    recovery.onAck(second, 9, 21, 2);
    expect(control.window).toBeCloseTo(28, 9);
    expect(recovery.mayGrow(second)).toBe(false);
    const third = sent(recovery, 'quic', 2, 4, [1]);
    recovery.onAck(third, 3, 10, 3);
    expect(control.window).toBeCloseTo(28 * 0.7, 9);
    // Only what the window has room for.
    expect(recovery.room(15)).toBe(4);
    expect(recovery.room(25)).toBe(0);
  });

  it('probes with two packets, without a reduction until their acknowledgement shows further losses', () => {
    const { control, recovery } = quic(20);
    sent(recovery, 'quic', 0, 3, [0, 1, 2]);
    // 100 + 25 of acknowledgement delay, with next to no variation.
    expect(recovery.waitMs(3)).toBeCloseTo(126, 0);
    expect(recovery.onTimer()).toBe(2);
    expect(resent(recovery)).toBe(2 * 1_300);
    expect(recovery.room(20)).toBe(2);
    expect(control.window).toBe(20);
    expect(recovery.waitMs(3)).toBeCloseTo(252, 0);
    const probes = sent(recovery, 'quic', 1, 2);
    expect(recovery.onAck(probes, 2, 1, 2)).toBe(1);
    expect(control.window).toBeCloseTo(14, 9);
  });

  it('does not reduce the window when the probes repair all losses', () => {
    const { control, recovery } = quic(20);
    sent(recovery, 'quic', 0, 3, [1, 2]);
    recovery.onTimer();
    expect(recovery.unnoticed).toBe(false);
    expect(control.window).toBe(20);
  });
});

import { describe, expect, it } from 'vitest';
import { PACKETS_PER_ACK } from '../../../src/network/packet.ts';
import { HyStart } from '../../../src/transport/congestion-control/hystart.ts';

describe('HyStart', () => {
  /** Acknowledgements of packets whose round trips begin with `rttMs`. */
  const acks = (count: number, rttMs: number, lastMs = 100, gapMs = 5) => ({
    firstAckMs: lastMs - (count - 1) * gapMs,
    ackMs: lastMs,
    ackGapMs: gapMs,
    delivered: count * PACKETS_PER_ACK,
    firstRttMs: rttMs,
  });

  it('ends slow start when all first samples of a round show a queue', () => {
    const tcp = new HyStart('tcp');
    tcp.startRound(0);
    // An eighth of 80 ms is 10; the ninth sample is the first that counts.
    expect(tcp.exits(acks(8, 91), 80, 40)).toBe(false);
    expect(tcp.exits(acks(1, 95), 80, 40)).toBe(true);
    tcp.startRound(200);
    const other = new HyStart('tcp');
    other.startRound(0);
    expect(other.exits(acks(5, 89), 80, 40)).toBe(false);
    expect(other.exits(acks(20, 120), 80, 80)).toBe(false);
    // The window was too small to take samples.
    other.startRound(300);
    expect(other.exits(acks(20, 120), 80, 15)).toBe(false);
    expect(other.exits(acks(4, 120), 80, 16)).toBe(false);
  });

  it('counts from the eighth sample on over QUIC, for any window', () => {
    const quic = new HyStart('quic');
    quic.startRound(0);
    expect(quic.exits(acks(8, 91), 80, 15)).toBe(false);
    expect(quic.exits(acks(1, 80), 80, 16)).toBe(true);
  });

  it('ends it on TCP when a train of acknowledgements lasts half a round trip', () => {
    const tcp = new HyStart('tcp');
    tcp.startRound(0);
    expect(tcp.exits(acks(20, 80, 20, 1), 80, 40)).toBe(false);
    expect(tcp.exits(acks(19, 80, 39, 1), 80, 40)).toBe(false);
    expect(tcp.exits(acks(2, 80, 41, 1), 80, 40)).toBe(true);
    const sparse = new HyStart('tcp');
    sparse.startRound(0);
    expect(sparse.exits(acks(7, 80, 18, 3), 80, 40)).toBe(false);
    expect(sparse.exits(acks(20, 80, 45, 1), 80, 40)).toBe(false);
  });
});

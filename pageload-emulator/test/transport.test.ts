import { describe, expect, it } from 'vitest';
import { Bottleneck, Policer } from '../src/transport/bottleneck.ts';
import { EventQueue } from '../src/transport/event-queue.ts';
import { HyStart } from '../src/transport/hystart.ts';
import { BurstLoss } from '../src/transport/loss.ts';

describe('bottleneck', () => {
  it('serialises in order of arrival', () => {
    // 8 Mbit/s: 1000 bytes a millisecond.
    const link = new Bottleneck(8e6, 3_000);
    expect(link.serialise(10, 1_000)).toBe(11);
    expect(link.serialise(10, 1_000)).toBe(12);
    expect(link.serialise(20, 500)).toBe(20.5);
  });

  it('drops packets beyond its queue', () => {
    const link = new Bottleneck(8e6, 3_000);
    // One on the wire, three in the queue.
    expect(link.room(0, 10, 1_000)).toBe(4);
    link.serialise(0, 4_000);
    expect(link.room(0, 10, 1_000)).toBe(0);
    expect(link.room(1.5, 10, 1_000)).toBe(1);
    expect(link.room(9, 2, 1_000)).toBe(2);
  });

  it('polices by a token bucket', () => {
    // 8 Mbit/s: 25 ms deep, 25 packets of 1000 bytes, then one a millisecond.
    const policer = new Policer(8e6);
    expect(policer.pass(0, 30, 1_000)).toBe(25);
    expect(policer.pass(3, 30, 1_000)).toBe(3);
  });
});

describe('loss', () => {
  const share = (loss: number, burst: number) => {
    const process = new BurstLoss(loss, burst, 7);
    let lost = 0;
    let bursts = 0;
    let last = -2;
    for (let sent = 0; sent < 400_000; sent += 8) {
      for (const at of process.lostOf(8) ?? []) {
        lost++;
        if (sent + at !== last + 1) bursts++;
        last = sent + at;
      }
    }
    return { share: lost / 400_000, burst: lost / bursts };
  };

  it('loses the given share, one by one or in bursts', () => {
    expect(share(0.02, 1).share).toBeCloseTo(0.02, 3);
    const bursty = share(0.02, 4);
    expect(bursty.share).toBeGreaterThan(0.018);
    expect(bursty.share).toBeLessThan(0.022);
    expect(bursty.burst).toBeGreaterThan(3.6);
    expect(bursty.burst).toBeLessThan(4.4);
  });

  it('loses nothing on a clean path', () => {
    expect(new BurstLoss(0, 1, 1).lostOf(1e9)).toBeNull();
  });
});

describe('HyStart', () => {
  /** Acknowledgements of packets whose round trips begin with `rttMs`. */
  const acks = (count: number, rttMs: number, lastMs = 100, gapMs = 5) => ({
    firstMs: lastMs - (count - 1) * gapMs,
    lastMs,
    gapMs,
    count,
    rttMs,
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

describe('event queue', () => {
  it('orders events by time, then by order of scheduling', () => {
    const queue = new EventQueue();
    const seen: number[] = [];
    const handler = { handle: (kind: number) => void seen.push(kind) };
    const times = [5, 3, 5, 1, 3, 9, 0, 5];
    for (const [kind, at] of times.entries()) queue.schedule(at, handler, kind);
    while (queue.step());
    expect(seen).toEqual([6, 3, 1, 4, 0, 2, 7, 5]);
    expect(queue.now).toBe(9);
  });
});

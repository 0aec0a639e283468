import { describe, expect, it } from 'vitest';
import { Bottleneck, Policer } from '../src/transport/bottleneck.ts';
import { Cubic } from '../src/transport/cubic.ts';
import { EventQueue } from '../src/transport/event-queue.ts';
import { HyStart } from '../src/transport/hystart.ts';
import { LossProcess } from '../src/transport/loss.ts';
import { Reno } from '../src/transport/reno.ts';

describe('bottleneck', () => {
  it('serialises in order of arrival', () => {
    // 8 Mbit/s: 1000 bytes a millisecond.
    const link = new Bottleneck(8e6, 3_000);
    expect(link.serialise(10, 1_000)).toBe(11);
    expect(link.serialise(10, 1_000)).toBe(12);
    expect(link.serialise(20, 500)).toBe(20.5);
  });

  it('drops what its queue has no room for', () => {
    const link = new Bottleneck(8e6, 3_000);
    // One on the wire, three in the queue.
    expect(link.room(0, 10, 1_000)).toBe(4);
    link.serialise(0, 4_000);
    expect(link.room(0, 10, 1_000)).toBe(0);
    expect(link.room(1.5, 10, 1_000)).toBe(1);
    expect(link.room(9, 2, 1_000)).toBe(2);
  });

  it('polices by a bucket', () => {
    // 8 Mbit/s: 25 ms deep, 25 packets of 1000 bytes, then one a millisecond.
    const policer = new Policer(8e6);
    expect(policer.pass(0, 30, 1_000)).toBe(25);
    expect(policer.pass(3, 30, 1_000)).toBe(3);
  });
});

describe('loss', () => {
  const share = (loss: number, burst: number) => {
    const process = new LossProcess(loss, burst, 7);
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

  it('loses the share that it should, one by one or in bursts', () => {
    expect(share(0.02, 1).share).toBeCloseTo(0.02, 3);
    const bursty = share(0.02, 4);
    expect(bursty.share).toBeGreaterThan(0.018);
    expect(bursty.share).toBeLessThan(0.022);
    expect(bursty.burst).toBeGreaterThan(3.6);
    expect(bursty.burst).toBeLessThan(4.4);
  });

  it('loses nothing on a clean path', () => {
    expect(new LossProcess(0, 1, 1).lostOf(1e9)).toBeNull();
  });
});

describe('Cubic', () => {
  it('cuts to 0.7 and is back at its maximum after K seconds', () => {
    const cubic = new Cubic(1_000);
    cubic.onLoss();
    expect(cubic.window).toBeCloseTo(700, 9);
    // K = cbrt(1000 · 0.3 / 0.4) = 9.0856 s (RFC 9438 figure 2). A large window, so that Reno does not overtake it.
    let now = 0;
    for (; now < 9_086; now += 20) cubic.onAck(cubic.window / 5, now, 100, 100, true);
    expect(cubic.window).toBeGreaterThan(985);
    expect(cubic.window).toBeLessThan(1_001);
  });

  it('gives up room when it lost below its last maximum', () => {
    const cubic = new Cubic(100);
    cubic.onLoss();
    cubic.onLoss();
    expect(cubic.window).toBeCloseTo(49, 9);
    // Fast convergence: the maximum is 70 · 1.7 / 2 = 59.5, K = cbrt(10.5 / 0.4) = 2.97 s.
    for (let now = 0; now < 2_970; now += 10) cubic.onAck(cubic.window / 100, now, 1_000, 1_000, true);
    expect(cubic.window).toBeLessThan(60.5);
  });

  it('grows like Reno where that is faster', () => {
    const cubic = new Cubic(20);
    cubic.onLoss();
    // 50 round trips of 10 ms: alpha = 0.53 packets each, far above 0.4 · t³ within half a second.
    for (let now = 0; now < 500; now += 10) cubic.onAck(cubic.window, now, 10, 10, true);
    expect(cubic.window).toBeGreaterThan(14 + 50 * 0.5);
  });

  it('does not grow while the application is what limits it', () => {
    const cubic = new Cubic(10);
    cubic.onAck(10, 0, 50, 50, false);
    expect(cubic.window).toBe(10);
  });
});

describe('Reno', () => {
  it('doubles in slow start, then adds a packet a round trip', () => {
    const reno = new Reno(32, 'quic');
    reno.onAck(32, 0, 50, 50, true);
    expect(reno.window).toBe(64);
    reno.onLoss();
    // QUIC stacks of Chromium's line cut to 0.7, TCP to a half.
    expect(reno.window).toBeCloseTo(44.8, 9);
    reno.onAck(44.8, 0, 50, 50, true);
    expect(reno.window).toBeCloseTo(45.8, 9);
    const tcp = new Reno(10, 'tcp');
    tcp.onLoss();
    expect(tcp.window).toBe(5);
  });
});

describe('HyStart', () => {
  it('ends slow start when a round begins behind a queue', () => {
    const start = new HyStart('quic');
    start.startRound(0);
    // An eighth of 80 ms is 10.
    expect(start.exits(100, 100, 5, 89, 80, 40, true)).toBe(false);
    expect(start.exits(100, 100, 5, 90, 80, 40, true)).toBe(true);
    expect(start.exits(100, 100, 5, 90, 80, 15, true)).toBe(false);
  });

  it('ends it on TCP when acknowledgements come in a train of half a round trip', () => {
    const tcp = new HyStart('tcp');
    tcp.startRound(0);
    expect(tcp.exits(20, 1, 1, 80, 80, 40, false)).toBe(false);
    expect(tcp.exits(39, 21, 1, 80, 80, 40, false)).toBe(false);
    expect(tcp.exits(41, 40, 1, 80, 80, 40, false)).toBe(true);
  });
});

describe('event queue', () => {
  it('goes by time, then by order of scheduling', () => {
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

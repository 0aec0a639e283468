import { describe, expect, it } from 'vitest';
import { Bbr } from '../../../src/transport/congestion-control/bbr.ts';
import type {
  Acknowledged,
  CongestionAlgorithm,
} from '../../../src/transport/congestion-control/congestion-control.ts';
import { Cubic } from '../../../src/transport/congestion-control/cubic.ts';
import { Hybla } from '../../../src/transport/congestion-control/hybla.ts';
import { QuicheCubic } from '../../../src/transport/congestion-control/quiche-cubic.ts';
import { Reno } from '../../../src/transport/congestion-control/reno.ts';

/** An acknowledgement for a sender limited by its window. */
const acked = (packets: number, changes: Partial<Acknowledged> = {}): Acknowledged => ({
  atMs: 0,
  packets,
  minRttMs: 50,
  windowLimited: true,
  rttMs: 50,
  inFlight: 0,
  lost: 0,
  delivered: 0,
  deliveredWhenSent: 0,
  rate: 0,
  appLimited: false,
  ...changes,
});

describe('Cubic', () => {
  it('reduces its window to 0.7 and is back at its maximum after K seconds', () => {
    const cubic = new Cubic(1_000);
    cubic.onLoss();
    expect(cubic.window).toBeCloseTo(700, 9);
    // K = cbrt(1000 · 0.3 / 0.4) = 9.0856 s (RFC 9438 figure 2). A large window, so that Reno does not overtake it.
    for (let atMs = 0; atMs < 9_086; atMs += 20) {
      cubic.onAck(acked(cubic.window / 5, { atMs, minRttMs: 100 }));
    }
    expect(cubic.window).toBeGreaterThan(985);
    expect(cubic.window).toBeLessThan(1_001);
  });

  it('yields bandwidth when it lost below its last maximum', () => {
    const cubic = new Cubic(100);
    cubic.onLoss();
    cubic.onLoss();
    expect(cubic.window).toBeCloseTo(49, 9);
    // Fast convergence: the maximum is 70 · 1.7 / 2 = 59.5, K = cbrt(10.5 / 0.4) = 2.97 s.
    for (let atMs = 0; atMs < 1_970; atMs += 10) {
      cubic.onAck(acked(cubic.window / 100, { atMs, minRttMs: 1_000 }));
    }
    expect(cubic.window).toBeLessThan(60.5);
  });

  it('grows like Reno where that is faster', () => {
    const cubic = new Cubic(20);
    cubic.onLoss();
    // 50 round trips of 10 ms: alpha = 0.53 packets each, far above 0.4 · t³ within half a second.
    for (let atMs = 0; atMs < 500; atMs += 10) cubic.onAck(acked(cubic.window, { atMs, minRttMs: 10 }));
    expect(cubic.window).toBeGreaterThan(14 + 50 * 0.5);
    expect(cubic.window).toBeLessThan(14 + 50 * 0.56);
  });

  it('grows by a twentieth each round trip until its first loss', () => {
    const cubic = new Cubic(100);
    cubic.leaveSlowStart();
    cubic.onAck(acked(100));
    expect(cubic.window).toBeCloseTo(105, 9);
    // Once it lost at 105, its own curve goes: K = cbrt(32 / 0.4) = 4.309 s, 0.4 · (0.05 − 4.309)³ + 105 = 74.1.
    cubic.onLoss();
    expect(cubic.window).toBe(73);
    cubic.onAck(acked(73));
    expect(cubic.window).toBeCloseTo(74.1, 1);
  });

  it('restarts from one packet after a timeout, up to 0.7 of its window, and reduces it once for the same losses', () => {
    const cubic = new Cubic(40);
    cubic.onTimeout(0, false);
    expect(cubic.window).toBe(1);
    cubic.onTimeout(0, true);
    cubic.onAck(acked(1));
    expect(cubic.window).toBe(2);
    cubic.onAck(acked(26));
    expect(cubic.window).toBeCloseTo(28, 9);
    expect(cubic.slowStart).toBe(false);
  });

  it('does not grow while the application limits it', () => {
    const cubic = new Cubic(10);
    cubic.onAck(acked(10, { windowLimited: false }));
    expect(cubic.window).toBe(10);
  });
});

describe('QuicheCubic', () => {
  const afterLosing = (packets: number, { slowStart = false } = {}): QuicheCubic => {
    const cubic = new QuicheCubic(100);
    if (!slowStart) cubic.leaveSlowStart();
    cubic.onLoss();
    cubic.onPacketsLost(packets);
    return cubic;
  };

  it('undoes a reduction after the loss of less than a fifth of the reduced window', () => {
    const cubic = afterLosing(13);
    expect(cubic.window).toBe(70);
    cubic.onAck(acked(1));
    expect(cubic.window).toBe(100);
    // Once: the next reduction counts its own losses.
    cubic.onLoss();
    cubic.onPacketsLost(14);
    cubic.onAck(acked(1));
    expect(cubic.window).toBeLessThan(71);
  });

  it('keeps a reduction after the loss of a fifth, while the application limits it, and at the end of slow start', () => {
    const dense = afterLosing(14);
    dense.onAck(acked(1));
    expect(dense.window).toBeLessThan(71);
    const idle = afterLosing(1);
    idle.onAck(acked(1, { windowLimited: false }));
    expect(idle.window).toBe(70);
    const first = afterLosing(1, { slowStart: true });
    first.onAck(acked(1));
    expect(first.window).toBeLessThan(71);
  });

  it('forgives a single loss in a small window', () => {
    const cubic = new QuicheCubic(4);
    cubic.leaveSlowStart();
    cubic.onLoss();
    cubic.onPacketsLost(1);
    cubic.onAck(acked(1));
    expect(cubic.window).toBe(4);
  });
});

describe('Reno', () => {
  it('doubles in slow start, then adds a packet a round trip', () => {
    const reno = new Reno(32, 'quic');
    reno.onAck(acked(32));
    expect(reno.window).toBe(64);
    reno.onLoss();
    // QUIC stacks derived from Chromium's reduce to 0.7, TCP to a half.
    expect(reno.window).toBeCloseTo(44.8, 9);
    reno.onAck(acked(44.8));
    expect(reno.window).toBeCloseTo(45.8, 9);
    const tcp = new Reno(10, 'tcp');
    tcp.onLoss();
    expect(tcp.window).toBe(5);
  });
});

describe('Hybla', () => {
  const grown = (control: CongestionAlgorithm, minRttMs: number, windows: number) => {
    for (let window = 0; window < windows; window++) control.onAck(acked(control.window, { minRttMs }));
    return control.window;
  };

  it('is Reno on round trips up to 25 ms', () => {
    expect(grown(new Hybla(10), 25, 2)).toBe(40);
    expect(grown(new Hybla(10), 5, 2)).toBe(40);
  });

  it('grows by 2^ρ − 1 in slow start and by ρ² packets a round trip after it', () => {
    // ρ = 75 / 25 = 3: 10 packets become 10 + 10 · 7.
    expect(grown(new Hybla(10), 75, 1)).toBe(80);
    const hybla = new Hybla(100);
    hybla.onLoss();
    expect(hybla.window).toBe(50);
    expect(grown(hybla, 75, 1)).toBeCloseTo(59, 9);
  });
});

describe('BBR', () => {
  /** A path of 2 packets a millisecond and 50 ms: 100 packets. */
  const RATE = 2;
  const RTT_MS = 50;

  /** Fills the window for some round trips; packets beyond the path's capacity wait in a queue. */
  function send(bbr: Bbr, roundTrips: number, startMs = 0, lost = 0): void {
    let atMs = startMs;
    let delivered = startMs * RATE;
    for (let round = 0; round < roundTrips; round++) {
      const inFlight = bbr.window;
      // The smallest of window, pace and path.
      const rate = Math.min(RATE, inFlight / RTT_MS, bbr.paceRate ?? Number.POSITIVE_INFINITY);
      const packets = rate * RTT_MS;
      const before = delivered;
      for (let part = 1; part <= 5; part++) {
        atMs += RTT_MS / 5;
        delivered += packets / 5;
        const queueMs = Math.max(0, inFlight / RATE - RTT_MS);
        bbr.onAck(
          acked(packets / 5, {
            atMs,
            minRttMs: RTT_MS,
            rttMs: RTT_MS + queueMs,
            inFlight: Math.min(inFlight, rate * (RTT_MS + queueMs)),
            delivered,
            deliveredWhenSent: part === 1 ? before : before - packets + (packets * part) / 5,
            rate,
            lost: part === 1 ? lost : 0,
          }),
        );
      }
    }
  }

  it('paces from the first packet on', () => {
    const bbr = new Bbr(10);
    expect(bbr.paceRate).toBeNull();
    bbr.onOpen(50);
    expect(bbr.paceRate).toBeCloseTo((2.89 * 10) / 50, 9);
  });

  it('leaves startup when the rate stops growing, and keeps twice bandwidth × round trip', () => {
    const bbr = new Bbr(10);
    bbr.onOpen(RTT_MS);
    expect(bbr.slowStart).toBe(true);
    send(bbr, 20);
    expect(bbr.slowStart).toBe(false);
    // 2 · 100 packets, and the extra bursts.
    expect(bbr.window).toBeGreaterThanOrEqual(200);
    expect(bbr.window).toBeLessThan(215);
  });

  it('probes with a quarter more for a round trip, drains it, and keeps the rate for six', () => {
    const bbr = new Bbr(10);
    bbr.onOpen(RTT_MS);
    send(bbr, 20);
    const paces = new Set<number>();
    for (let round = 0; round < 16; round++) {
      send(bbr, 1, 20 * RTT_MS + round * RTT_MS);
      paces.add(Math.round(100 * bbr.paceRate!) / 100);
    }
    // 99% of 2 times the gain.
    expect([...paces].sort()).toEqual([1.49, 1.98, 2.48]);
  });

  it('is limited to what is delivered for a round trip after a loss, and then continues as before', () => {
    const bbr = new Bbr(10);
    bbr.onOpen(RTT_MS);
    send(bbr, 20);
    const { window, paceRate } = bbr;
    bbr.onLoss(1_000, 80);
    expect(bbr.window).toBe(81);
    bbr.onRecovered();
    expect(bbr.window).toBe(window);
    expect(bbr.paceRate).toBe(paceRate);
  });

  it('measures the round trip anew after ten seconds, with a window of 4', () => {
    const bbr = new Bbr(10);
    bbr.onOpen(RTT_MS);
    send(bbr, 20);
    bbr.onAck(acked(1, { atMs: 11_001, rttMs: 80, inFlight: 100, delivered: 5_000, rate: RATE }));
    expect(bbr.window).toBe(4);
    bbr.onAck(acked(1, { atMs: 11_100, rttMs: 50, inFlight: 4, delivered: 5_001, rate: 0.1 }));
    bbr.onAck(acked(1, { atMs: 11_400, rttMs: 50, inFlight: 4, delivered: 5_002, rate: 0.1 }));
    expect(bbr.window).toBeGreaterThanOrEqual(200);
  });
});

import { describe, expect, test } from 'vitest';
import { climb } from '../../../pageload-emulator/src/econ/climb.ts';
import { cubicWindow, renoFriendlyWindow } from '../../../pageload-emulator/src/econ/cubic-window.ts';
import { epochAfterLoss, epochAfterSlowStart } from '../../../pageload-emulator/src/econ/epoch.ts';
import { firstLost } from '../../../pageload-emulator/src/econ/first-lost.ts';
import type { FlowConditions } from '../../../pageload-emulator/src/econ/flow-conditions.ts';
import { lossByClimb } from '../../../pageload-emulator/src/econ/loss-by-climb.ts';
import { lossBySegment } from '../../../pageload-emulator/src/econ/loss-by-segment.ts';
import { lossInSlowStart } from '../../../pageload-emulator/src/econ/slow-start.ts';
import { FlowLatency } from '../../src/econ/flow-latency.ts';
import { expectedFirstLoss, expectedRounds, expectedWindowAtLoss } from '../../src/econ/period-sums.ts';
import { steadyThroughput } from '../../src/econ/steady-throughput.ts';

function conditionsOf(changes: Partial<FlowConditions> & { p?: number } = {}): FlowConditions {
  const { p = 0.01, ...rest } = changes;
  return { congestionControl: 'cubic', rttMs: 50, loss: lossBySegment(p), ...rest };
}

describe('windows', () => {
  test('Cubic starts at scwnd and reaches W_max again after K seconds, not round trips', () => {
    const epoch = epochAfterLoss('cubic', 100, 0);
    expect(epoch).toEqual({ start: 70, windowMax: 100, prior: 100 });
    // K = cbrt(100 · 0.3 / 0.4) = 4.217 s; a second later 0.4 segments more.
    const kMs = 1000 * Math.cbrt((100 * 0.3) / 0.4);
    expect(cubicWindow(epoch, 0)).toBeCloseTo(70, 9);
    expect(cubicWindow(epoch, kMs)).toBeCloseTo(100, 9);
    expect(cubicWindow(epoch, kMs + 1000)).toBeCloseTo(100.4, 9);
  });

  test('the Reno-friendly window grows by 9/17 of a segment a round, and by a whole one above the window of the last loss', () => {
    const epoch = epochAfterLoss('cubic', 20, 0);
    expect(renoFriendlyWindow(epoch, 2)).toBeCloseTo(14 + 18 / 17, 9);
    // 14 + 12 · 9/17 = 20.35 is the first at or above 20.
    expect(renoFriendlyWindow(epoch, 12)).toBeCloseTo(14 + (12 * 9) / 17, 9);
    expect(renoFriendlyWindow(epoch, 14)).toBeCloseTo(14 + (12 * 9) / 17 + 2, 9);
  });

  test('Reno grows by one a round', () => {
    const rounds = climb(
      conditionsOf({ congestionControl: 'reno', p: 1e-5 }),
      epochAfterLoss('reno', 40, 0),
      9_000,
    );
    expect(rounds.length).toBeGreaterThan(100);
    expect(rounds.map(({ window }) => window)).toEqual(rounds.map((_, round) => 20 + round));
  });

  test('a loss below the last plateau lowers the next one: fast convergence', () => {
    expect(epochAfterLoss('cubic', 80, 100)).toEqual({ start: 56, windowMax: 68, prior: 80 });
    expect(epochAfterLoss('cubic', 100, 100).windowMax).toBe(100);
    expect(epochAfterLoss('reno', 80, 100)).toEqual({ start: 40, windowMax: 80, prior: 80 });
    expect(epochAfterLoss('reno', 2, 0).start).toBe(2);
  });

  test('a slow start that ssthresh ended has no plateau: the window rises from the start', () => {
    const epoch = epochAfterSlowStart(32.6);
    expect(epoch).toEqual({ start: 32, windowMax: 32, prior: 32 });
    expect(cubicWindow(epoch, 1000)).toBeCloseTo(32.4, 9);
  });

  test('a round grows the window by half of it at most', () => {
    const far = climb(conditionsOf({ rttMs: 20_000, p: 1e-6 }), epochAfterLoss('cubic', 10, 0), 500);
    expect(far.slice(0, 4).map(({ window }) => window)).toEqual([7, 10, 15, 23]);
  });
});

describe('sums', () => {
  test('E[M] of independent losses is 1/p, whatever the windows are', () => {
    for (const congestionControl of ['cubic', 'reno'] as const) {
      for (const p of [1e-3, 1e-2, 0.1]) {
        const rounds = climb(
          conditionsOf({ congestionControl, p }),
          epochAfterLoss(congestionControl, 30, 0),
        );
        expect(expectedFirstLoss(rounds) * p).toBeCloseTo(1, 9);
      }
    }
  });

  test('three rounds, by hand', () => {
    // Reno from 2: windows 2, 3, 4, of which the rounds lose 0.2, 0.5 and surely.
    const byWindow: Record<number, number> = { 2: 0.2, 3: 0.5, 4: 1 };
    const loss = { inRound: (cwnd: number) => byWindow[cwnd]!, smallest: 2, largest: 4 };
    const rounds = climb(conditionsOf({ congestionControl: 'reno', loss }), epochAfterLoss('reno', 4, 0));
    expect(rounds.map(({ window }) => window)).toEqual([2, 3, 4]);
    // 0.2 · 1 + 0.4 · 2 + 0.4 · 3
    expect(expectedRounds(rounds)).toBeCloseTo(2.2, 12);
    // 0.2 · 2 + 0.4 · 3 + 0.4 · 4
    expect(expectedWindowAtLoss(rounds)).toBeCloseTo(3.2, 12);
    // An event is at any segment of its round: 0.2 · 1.5 + 0.4 · (2 + 2) + 0.4 · (5 + 2.5)
    expect(expectedFirstLoss(rounds)).toBeCloseTo(4.9, 12);
  });

  test('places of the first loss: quantiles agree with the sums', () => {
    for (const conditions of [
      conditionsOf({ p: 0.05 }),
      conditionsOf({ loss: { inRound: () => 0.4, smallest: 1, largest: 100 } }),
    ]) {
      const { probability, expected, survives, placeWhere } = firstLost(conditions, 40, undefined);
      const shares = 20_000;
      let mean = 0;
      for (let i = 0; i < shares; i++) mean += placeWhere(1 - (probability * (i + 0.5)) / shares) / shares;
      expect(probability * mean + (1 - probability) * 40).toBeCloseTo(expected, 2);
      expect(survives(40)).toBeCloseTo(1 - probability, 12);
      expect(survives(0)).toBe(1);
    }
  });
});

describe('what the corrections are worth', () => {
  test('without the Reno-friendly region Cubic would be several times too slow over short round trips', () => {
    const conditions = conditionsOf({ rttMs: 5, p: 5e-3 });
    const cubic = steadyThroughput(conditions).segmentsPerMs;
    const reno = steadyThroughput({ ...conditions, congestionControl: 'reno' }).segmentsPerMs;
    expect(cubic / reno).toBeGreaterThan(0.9);
    // What the cubic function alone does, by its own deterministic cycle: W_max = (1/p / K)… over K seconds.
    const alone = cubicAlone(5, 5e-3);
    expect(cubic / alone).toBeGreaterThan(2.5);
  });

  test('cwnd at the mean round is not the mean window', () => {
    const conditions = conditionsOf({ rttMs: 200, p: 1e-3 });
    const rounds = climb(conditions, epochAfterLoss('cubic', 40, 0));
    const atMean = rounds[Math.round(expectedRounds(rounds)) - 1]!.window;
    expect(atMean / expectedWindowAtLoss(rounds)).toBeLessThan(0.95);
  });

  test('a loss in slow start is detected when the window has grown', () => {
    // The 11th of 20 is lost: ten acknowledgements before it have grown the window to 30 and released 20 more.
    const { delivered, recovered, epoch } = lossInSlowStart(conditionsOf(), 20, 11);
    expect(delivered).toBe(19 + 21);
    expect(recovered).toBe(21);
    expect(epoch).toEqual({ start: 21, windowMax: 30, prior: 30 });
  });

  test('a finite flow is not x over the long-run B', () => {
    const conditions = conditionsOf({ p: 1e-3 });
    const latency = new FlowLatency(conditions);
    const longRun = steadyThroughput(conditions).segmentsPerMs;
    // Ten segments fit the initial window: a round trip, unless one is lost.
    expect(latency.latencyMs(10, { window: 10 })).toBeCloseTo(50 * (1 + 10 * 1e-3), 0);
    expect(latency.latencyMs(10, { window: 10 }) / (10 / longRun)).toBeGreaterThan(3);
    // Whereas a very long one goes by it.
    expect(latency.latencyMs(1e7, { window: 10 }) / (1e7 / longRun)).toBeCloseTo(1, 2);
  });
});

describe('finite flows', () => {
  test('without loss each round doubles the window', () => {
    const latency = new FlowLatency(conditionsOf({ p: 0 }));
    expect([1, 10, 11, 30, 31, 70, 71].map((n) => latency.latencyMs(n, { window: 10 }))).toEqual([
      50, 50, 100, 100, 150, 150, 200,
    ]);
    expect(() => latency.latencyMs(0, { window: 10 })).toThrow(RangeError);
  });

  test('without loss the last round takes as long as the bottleneck needs for it', () => {
    // Half a segment a millisecond: 10 segments arrive within 20 ms of the first.
    const latency = new FlowLatency(conditionsOf({ p: 0, segmentsPerMs: 0.5, roomSegments: 1e9 }));
    expect(latency.latencyMs(10, { window: 10 })).toBeCloseTo(50 + 20, 9);
    expect(latency.latencyMs(20, { window: 10 })).toBeCloseTo(50 + 50 + 20, 9);
    // 40 segments fill 80 ms: from there on the bottleneck never rests.
    expect(latency.latencyMs(2_000, { window: 10 })).toBeCloseTo(50 + 50 + 50 + 1_970 / 0.5, 9);
  });

  test('one more segment never shortens a flow, from any window', () => {
    for (const from of [{ window: 10 }, { window: 30, ssthresh: 30 }, { window: 10, ssthresh: 40 }]) {
      const latency = new FlowLatency(conditionsOf({ p: 0.01 }));
      let before = 0;
      for (let segments = 1; segments < 700; segments++) {
        const ms = latency.latencyMs(segments, from);
        expect(ms).toBeGreaterThanOrEqual(before - 1e-6);
        before = ms;
      }
    }
  });
});

describe('loss by segment', () => {
  test('gives the loss of a round for any window', () => {
    expect(lossBySegment(0.1).inRound(2)).toBeCloseTo(1 - 0.9 ** 2, 12);
    const rising = lossBySegment((cwnd) => cwnd / 1000);
    expect(rising.inRound(30)).toBeCloseTo(1 - 0.97 ** 30, 12);
    expect(rising.perSegment!(30)).toBe(0.03);
  });
});

describe('long flows', () => {
  test('finite flows approach the throughput of a long one', () => {
    for (const congestionControl of ['cubic', 'reno'] as const) {
      const conditions = conditionsOf({ congestionControl, rttMs: 200, p: 5e-3 });
      const throughput = steadyThroughput(conditions).segmentsPerMs;
      const latency = new FlowLatency(conditions);
      const from = { window: 20, ssthresh: 20 };
      const [short, long] = [3_000, 5_900].map((segments) => latency.latencyMs(segments, from));
      expect(2_900 / (long! - short!) / throughput).toBeCloseTo(1, 2);
    }
  });

  test('Reno follows the square root of the loss (Mathis et al., 1997)', () => {
    const at = (p: number) => steadyThroughput(conditionsOf({ congestionControl: 'reno', p })).segmentsPerMs;
    for (const p of [1e-4, 1e-3]) {
      const mathis = Math.sqrt(1.5 / p) / 50;
      expect(at(p) / mathis).toBeGreaterThan(0.9);
      expect(at(p) / mathis).toBeLessThan(1.15);
    }
  });

  test('more loss means less throughput, by climbs and by rounds', () => {
    const rates = [1e-4, 1e-3, 1e-2].map((p) => steadyThroughput(conditionsOf({ p })).segmentsPerMs);
    expect(rates).toEqual(rates.toSorted((a, b) => b - a));
    const climbs = lossByClimb(
      Array.from({ length: 60 }, (_, index) => ({ cwnd: 20 + index, p: 5e-4 + 1e-7 * index })),
    );
    const { windowAtLoss } = steadyThroughput(conditionsOf({ loss: climbs }));
    expect(windowAtLoss).toBeGreaterThan(20);
    expect(windowAtLoss).toBeLessThanOrEqual(80);
  });

  test('a flow that never loses has no long-run throughput', () => {
    expect(() => steadyThroughput(conditionsOf({ p: 0 }))).toThrow(RangeError);
  });
});

/**
 * Throughput of the cubic function alone, one loss each 1/p segments: the cycle of K seconds from 0.7 to W_max, whose mean
 * window is W_max · (1 − 0.3/4).
 */
function cubicAlone(rttMs: number, p: number): number {
  let low = 1;
  let high = 1e6;
  for (let step = 0; step < 100; step++) {
    const windowMax = Math.sqrt(low * high);
    const segments = ((1 - 0.075) * windowMax * Math.cbrt((0.3 * windowMax) / 0.4) * 1000) / rttMs;
    if (segments < 1 / p) low = windowMax;
    else high = windowMax;
  }
  return (0.925 * low) / rttMs;
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lossByClimb } from '../../src/econ/loss-by-climb.ts';
import { lossByConnections } from '../../src/econ/loss-by-connections.ts';
import { lossByRound } from '../../src/econ/loss-by-round.ts';
import { lossBySegment } from '../../src/econ/loss-by-segment.ts';
import type { LossByWindow } from '../../src/econ/loss-by-window.ts';
import type { WindowCount, WindowLoss } from '../../src/econ/pcwnd-files.ts';
import { InputError } from '../../src/util/input-error.ts';

const range = (from: number, to: number, step = 1) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + step * i);

/** Rows as ECON writes them: a hazard in the windows where climbs ended, its p repeated up to the next. */
function carried(hazards: Record<number, number>, largest: number): WindowLoss[] {
  const windows = Object.keys(hazards).map(Number);
  let p = 0;
  return range(Math.min(...windows), largest).map((cwnd) => {
    if (cwnd in hazards) p = hazards[cwnd]! / cwnd;
    return { cwnd, p };
  });
}

describe('lossByClimb', () => {
  // Fifty climbs: one ended at 100, one of the other 49 at 600, the 48 left at 1100.
  const loss = lossByClimb(carried({ 100: 1 / 50, 600: 1 / 49, 1100: 1 }, 1100));

  test('takes a repeated p for no loss', () => {
    const survival = survivalByRound(loss, range(100, 1100));
    expect(survival[0]).toBeCloseTo(49 / 50, 12);
    expect(survival[499]).toBeCloseTo(49 / 50, 12);
    expect(survival[500]).toBeCloseTo(48 / 50, 12);
    expect(survival[999]).toBeCloseTo(48 / 50, 12);
    expect(survival[1000]).toBe(0);
  });

  test('ends a climb in any of the windows that a round grows through', () => {
    expect(loss.inRound(1099, 99)).toBeCloseTo(2 / 50, 12);
    expect(loss.inRound(600, 100)).toBeCloseTo(1 / 49, 12);
    expect(loss.inRound(599.9, 100.5)).toBe(0);
    const byLeaps = survivalByRound(loss, [100, 250.5, 700, 1099.5]);
    expect(byLeaps.at(-1)).toBeCloseTo(48 / 50, 12);
  });

  test('counts the whole window that a climb begins in', () => {
    expect(loss.inRound(600)).toBeCloseTo(1 / 49, 12);
    expect(loss.inRound(600.7)).toBeCloseTo(1 / 49, 12);
    expect(loss.inRound(599.7)).toBe(0);
    expect(loss.inRound(601)).toBe(0);
  });

  test('loses nothing where the window does not grow, nor below the measured ones', () => {
    expect(loss.inRound(600, 600)).toBe(0);
    expect(loss.inRound(300, 600)).toBe(0);
    expect(loss.inRound(99.9, 1)).toBe(0);
  });

  test('ends each climb beyond the largest window', () => {
    const halfEnded = lossByClimb(carried({ 10: 0.1, 20: 0.5 }, 25));
    expect(halfEnded.inRound(25, 24)).toBe(0);
    expect(halfEnded.inRound(25.1, 25)).toBe(1);
    expect([halfEnded.smallest, halfEnded.largest]).toEqual([10, 25]);
  });

  test('is the same for any division of the same growth into rounds', () => {
    const hazard = fc.double({ min: 1e-6, max: 1, noNaN: true });
    const hazards = fc.dictionary(fc.integer({ min: 10, max: 200 }).map(String), hazard, { minKeys: 1 });
    const steps = fc.uniqueArray(fc.double({ min: 5, max: 210, noNaN: true }), { maxLength: 20 });
    fc.assert(
      fc.property(hazards, steps, (some, cuts) => {
        const any = lossByClimb(carried(some, 250));
        const windows = [4, ...cuts.toSorted((a, b) => a - b), 220];
        expect(survivalByRound(any, windows).at(-1)).toBeCloseTo(1 - any.inRound(220, 4), 9);
      }),
    );
  });

  test('refuses counts of rounds, and no rows', () => {
    const rows = [
      { cwnd: 10, p: 0.01 },
      { cwnd: 11, p: 0 },
    ];
    expect(() => lossByClimb(rows)).toThrow(
      new InputError('window 11: expected a p above 0, repeated from the loss before, got 0'),
    );
    expect(() => lossByClimb([])).toThrow(RangeError);
  });
});

describe('lossByRound', () => {
  /** Rounds that filled their windows. */
  const filled = (cwnd: number, rounds: number, lossEvents: number): WindowCount => ({
    cwnd,
    rounds,
    packets: rounds * cwnd,
    lossEvents,
  });

  test('finds the rate of independent losses, between the measured windows too', () => {
    const rate = 0.002;
    const counts = range(20, 218, 2).map((cwnd) => filled(cwnd, 10_000, Math.round(10_000 * cwnd * rate)));
    const loss = lossByRound(counts);
    for (const cwnd of [1, 20, 21, 55.5, 150, 218, 400]) {
      expect(loss.inRound(cwnd) / cwnd).toBeGreaterThan(0.99 * rate);
      expect(loss.inRound(cwnd) / cwnd).toBeLessThan(1.01 * rate);
    }
    expect(loss.inRound(10_000)).toBe(1);
    expect([loss.smallest, loss.largest]).toEqual([20, 218]);
  });

  test('counts packets where rounds did not fill their window', () => {
    const full = lossByRound([filled(100, 1000, 50)]);
    const half = lossByRound([{ cwnd: 100, rounds: 1000, packets: 50_000, lossEvents: 25 }]);
    expect(full.inRound(100)).toBeCloseTo(0.05, 3);
    expect(half.inRound(100)).toBeCloseTo(0.05, 3);
  });

  test('follows a queue that overflows', () => {
    const loss = lossByRound(range(50, 149).map((cwnd) => filled(cwnd, 1000, cwnd < 130 ? 0 : 500)));
    expect(loss.inRound(90)).toBeLessThan(0.001);
    expect(loss.inRound(149)).toBeGreaterThan(0.4);
  });

  test('gives a window without a loss a probability below that of all and above 0', () => {
    const loss = lossByRound([filled(10, 1000, 0), filled(100, 100, 50)]);
    expect(loss.inRound(10)).toBeGreaterThan(0);
    expect(loss.inRound(10)).toBeLessThan(1e-3);
    // Far from both, what all windows showed is all that is known: 50.5 of 20,000.5 packets.
    expect(loss.inRound(32) / 32).toBeCloseTo(50.5 / 20_000.5, 6);
  });

  test('does not depend on the order, and stays a probability', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const count = fc
      .tuple(fc.integer({ min: 1, max: 5000 }), fc.nat(1000), share, share)
      .map(([cwnd, rounds, lost, sent]) => ({
        ...filled(cwnd, rounds, Math.floor(rounds * lost)),
        packets: rounds + Math.floor(rounds * (cwnd - 1) * sent),
      }));
    const some = fc
      .uniqueArray(count, { selector: ({ cwnd }) => cwnd, minLength: 1, maxLength: 30 })
      .filter((counts) => counts.some(({ rounds }) => rounds > 0));
    fc.assert(
      fc.property(some, fc.double({ min: 1, max: 1e5, noNaN: true }), (counts, cwnd) => {
        const probability = lossByRound(counts).inRound(cwnd);
        expect(probability).toBeGreaterThan(0);
        expect(probability).toBeLessThanOrEqual(1);
        expect(lossByRound(counts.toReversed()).inRound(cwnd)).toBe(probability);
      }),
    );
  });

  test('needs a round', () => {
    expect(() => lossByRound([filled(10, 0, 0)])).toThrow(RangeError);
  });
});

test('climbs and rounds of the same transfers give the same survival', () => {
  // Reno's climbs from 40 to 59 segments, one segment a round, expected numbers in place of random ones.
  const hazardAt = (cwnd: number) => 2e-4 * cwnd + 0.004 * Math.max(0, cwnd - 80);
  const largest = 130;
  const counts: WindowCount[] = [];
  const hazards: Record<number, number> = {};
  let climbs = 0;
  for (const cwnd of range(40, largest)) {
    if (cwnd < 60) climbs += 1_000_000;
    const ended = Math.round(climbs * hazardAt(cwnd));
    counts.push({ cwnd, rounds: climbs, packets: climbs * cwnd, lossEvents: ended });
    hazards[cwnd] = ended / climbs;
    climbs -= ended;
  }
  const windows = range(50, 110);
  const byClimb = survivalByRound(lossByClimb(carried(hazards, largest)), windows);
  const byRound = survivalByRound(lossByRound(counts), windows);
  let truth = 1;
  for (const [round, cwnd] of windows.entries()) {
    truth *= 1 - hazardAt(cwnd);
    expect(byClimb[round]).toBeCloseTo(truth, 4);
    expect(Math.abs(byRound[round]! - truth)).toBeLessThan(0.02);
  }
});

test('p(cwnd, npc) is that of the nearest number of connections by ratio', () => {
  const [one, four, ten] = [1e-4, 4e-4, 1e-3].map(lossBySegment);
  const loss = lossByConnections(
    new Map([
      [10, ten!],
      [1, one!],
      [4, four!],
    ]),
  );
  expect([0, 1, 2, 3, 6, 7, 40].map(loss)).toEqual([one, one, one, four, four, ten, ten]);
  expect(() => lossByConnections(new Map())).toThrow(RangeError);
});

/** Per round of a climb the probability that neither it nor one before it has a loss event. */
function survivalByRound(loss: LossByWindow, windows: readonly number[]): number[] {
  let survival = 1;
  return windows.map((cwnd, round) => {
    survival *= 1 - loss.inRound(cwnd, round === 0 ? undefined : windows[round - 1]);
    return survival;
  });
}

import { type LossByWindow, lossBySegment } from '@hopwise/pageload-emulator/econ';
import { describe, expect, test } from 'vitest';
import { oracleRandom } from '../../src/econ/oracle.ts';
import { type SenderState, segmentsAhead } from '../../src/papers/econ/segments-ahead.ts';

const reno = (loss: LossByWindow) => ({ congestionControl: 'reno' as const, rttMs: 100, loss });
const climbing: SenderState = { window: 12, ssthresh: 10, reducing: false };

describe('segments ahead', () => {
  test('without losses are the windows of the rounds, the last one in proportion', () => {
    const calm = reno(lossBySegment(1e-12));
    // 12 + 13 + 14 / 2
    expect(segmentsAhead(calm, climbing, 250)).toBeCloseTo(32, 6);
    // A sender that repairs a loss goes on from ssthresh: 10 + 11.
    expect(segmentsAhead(calm, { ...climbing, reducing: true }, 200)).toBeCloseTo(21, 6);
    // Slow start: 4 + 8, then 10 by ssthresh, then 11.
    expect(segmentsAhead(calm, { ...climbing, window: 4 }, 400)).toBeCloseTo(33, 6);
  });

  test('with a certain loss: its round without the lost one, a round of repair, half of the window', () => {
    // Loses in every round; at each of its segments alike, so that the first lost is the (1 + cwnd) / 2-th.
    const certain: LossByWindow = { inRound: () => 1, smallest: 1, largest: 100 };
    // 12 − 1, then 13 / 2 for the repair, then 6 − 1.
    expect(segmentsAhead(reno(certain), climbing, 300)).toBeCloseTo(11 + 6.5 + 5, 9);
  });

  test('are those of simulated senders', () => {
    const random = oracleRandom(1);
    const loss = 0.01;
    const simulate = (): number => {
      let [window, delivered, left] = [12, 0, 10.5];
      while (left > 0) {
        if (left < 1) return delivered + left * window;
        left -= 1;
        let place = 0;
        for (let at = 1; at <= window && place === 0; at++) if (random() < loss) place = at;
        delivered += place === 0 ? window : window - 1;
        if (place === 0) window += 1;
        else {
          delivered += Math.min(1, left) * place;
          left -= 1;
          window = Math.max(2, Math.floor(window / 2));
        }
      }
      return delivered;
    };
    const runs = Array.from({ length: 20_000 }, simulate);
    const mean = runs.reduce((sum, run) => sum + run, 0) / runs.length;
    const variance = runs.reduce((sum, run) => sum + (run - mean) ** 2, 0) / (runs.length - 1);
    const z =
      (segmentsAhead(reno(lossBySegment(loss)), climbing, 1_050) - mean) / Math.sqrt(variance / runs.length);
    expect(Math.abs(z)).toBeLessThan(3.5);
  });
});

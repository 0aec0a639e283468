import {
  bottleneckShare,
  epochAfterLoss,
  type FlowConditions,
  lossBySegment,
} from '@hopwise/pageload-emulator/econ';
import { describe, expect, test } from 'vitest';
import { periodThroughput } from '../../src/econ/period-throughput.ts';
import { slowStart } from '../../src/econ/slow-start-throughput.ts';

function conditionsOf(changes: Partial<FlowConditions> & { p?: number } = {}): FlowConditions {
  const { p = 0.01, ...rest } = changes;
  return { congestionControl: 'cubic', rttMs: 50, loss: lossBySegment(p), ...rest };
}

describe('throughput of a period', () => {
  test('three rounds, by hand', () => {
    // Reno from 2: windows 2, 3, 4, of which the rounds lose 0.2, 0.5 and surely.
    const byWindow: Record<number, number> = { 2: 0.2, 3: 0.5, 4: 1 };
    const loss = { inRound: (cwnd: number) => byWindow[cwnd]!, smallest: 2, largest: 4 };
    const period = periodThroughput(
      conditionsOf({ congestionControl: 'reno', loss }),
      epochAfterLoss('reno', 4, 0),
    );
    // E[M] − 1 + E[cwnd_X]
    expect(period.segments).toBeCloseTo(4.9 - 1 + 3.2, 12);
    // (E[X] + 1) round trips
    expect(period.durationMs).toBeCloseTo(3.2 * 50, 12);
    expect(period.segmentsPerMs).toBeCloseTo(7.1 / 160, 12);
  });

  test('a full queue ends the climb, and the bottleneck sets the duration of the rounds', () => {
    // A segment a millisecond, 50 on the way and 10 in the queue.
    const conditions = conditionsOf({ congestionControl: 'reno', p: 0, ...bottleneckShare(50, 1, 10, 1) });
    const period = periodThroughput(conditions, epochAfterLoss('reno', 61, 0));
    expect(period.windowAtLoss).toBe(61);
    // 30 to 60 segments without a loss, the 61st of the next round lost.
    expect(period.rounds).toBe(32);
    expect(period.firstLoss).toBe((31 * 90) / 2 + 61);
    // 50 ms up to 50 segments; then as many as segments, and the round behind the loss as long as its own.
    expect(period.durationMs).toBe(21 * 50 + (51 + 60) * 5 + 2 * 61);
    expect(bottleneckShare(50, 1, 10, 3)).toEqual({ segmentsPerMs: 1 / 3, roomSegments: 20 });
  });
});

describe('throughput of slow start', () => {
  test('the +1 of equation 4 counts only with a loss', () => {
    // 10, 20 and 40 segments, then ssthresh: three round trips, not four.
    const lossless = slowStart(conditionsOf({ p: 0 }), { window: 10, ssthresh: 80 });
    expect(lossless).toMatchObject({
      rounds: 3,
      segments: 70,
      durationMs: 150,
      lossProbability: 0,
      windowAtExit: 80,
    });
    const lossy = slowStart(conditionsOf({ p: 0.999999 }), { window: 10, ssthresh: 80 });
    expect(lossy.durationMs).toBeCloseTo(100, 3);
  });

  test('does not exist where neither a loss nor a threshold ends it', () => {
    expect(() => slowStart(conditionsOf({ p: 0 }), { window: 10 })).toThrow(RangeError);
  });
});

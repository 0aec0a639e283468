import { describe, expect, it } from 'vitest';
import {
  changesFinding,
  latencyFinding,
  renoFinding,
  secondsFinding,
  sizesFinding,
} from '../../src/papers/econ/flow-claims.ts';
import {
  type FlowPredictor,
  joinCounts,
  medianErrors,
  PREDICTORS,
  predictSeconds,
  predictTransfers,
  rivalsUnder,
} from '../../src/papers/econ/flow-predictions.ts';
import type { LongFlow } from '../../src/papers/econ/long-flows.ts';
import { pftkSegmentsPerMs } from '../../src/papers/econ/rivals.ts';
import { judgeFinding } from '../../src/papers/judge-claim.ts';

/** Segments of 1,000 bytes over a round trip of 100 ms, each second `rate(second)` bytes. */
function flowOf(
  seconds: number,
  rate: (second: number) => number,
  changes: Partial<LongFlow> = {},
): LongFlow {
  let deliveredBytes = 0;
  const samples = Array.from({ length: 5 * seconds }, (_, index) => {
    deliveredBytes += rate(Math.floor(index / 5)) / 5;
    return {
      seconds: (index + 1) / 5,
      deliveredBytes,
      // Two rounds of 10 packets, of which one in ten loses.
      windows: [{ cwnd: 10, rounds: 2, packets: 20, lossEvents: index % 5 === 0 ? 1 : 0 }],
      cwnd: 10,
      ssthresh: 8,
      reducing: false,
      rttMs: 100,
    };
  });
  return { congestionControl: 'cubic', loss: 0.01, mss: 1_000, samples, ...changes };
}

const predicted = (of: Partial<Record<FlowPredictor, number>>, others: number) =>
  Object.fromEntries(PREDICTORS.map((name) => [name, of[name] ?? others])) as Record<FlowPredictor, number>;

describe('the next second of a flow', () => {
  it('is predicted from when ten seconds are known, by what was measured before it', () => {
    // The first second is no rate: it has no sample at its begin. So the rates of seconds 1 to 10 are known at 11.
    const seconds = predictSeconds(flowOf(14, (second) => (second < 12 ? 100_000 : 50_000)));
    expect(seconds.map(({ sample, actual }) => [sample, Math.round(actual)])).toEqual([
      [54, 100_000],
      [59, 50_000],
      [64, 50_000],
    ]);
    expect(seconds[0]!.predicted['last sample']).toBeCloseTo(100_000, 6);
    expect(seconds[2]!.predicted['last sample']).toBeCloseTo(50_000, 6);
    // 0.8 · 50,000 + 0.2 · 100,000
    expect(seconds[2]!.predicted.EWMA).toBeCloseTo(60_000, 6);
  });

  it('has PFTK’s rate of one loss event in a hundred packets', () => {
    const by = predictSeconds(flowOf(12, () => 100_000))[0]!.predicted;
    // 100 · sqrt(2 · 0.01 / 3) + 300 · 3 · sqrt(3 · 0.01 / 8) · 0.01 · (1 + 32 · 0.0001) = 8.165 + 0.553 ms a segment
    expect(1 / pftkSegmentsPerMs(0.01, 100)).toBeCloseTo(8.718, 3);
    expect(by.PFTK).toBeCloseTo(1e6 * pftkSegmentsPerMs(0.01, 100), 6);
    // 10 to 13 segments in each of ten rounds, less what is lost: ECON’s rate lies near 100 segments.
    expect(by.ECON).toBeGreaterThan(80_000);
    expect(by.ECON).toBeLessThan(130_000);
  });

  it('joins counts by window', () => {
    const one = { cwnd: 4, rounds: 2, packets: 7, lossEvents: 1 };
    expect(joinCounts([{ windows: [one] }, { windows: [{ ...one, cwnd: 5 }, one] }])).toEqual([
      { cwnd: 4, rounds: 4, packets: 14, lossEvents: 2 },
      { ...one, cwnd: 5 },
    ]);
  });

  it('errs by the median', () => {
    const errors = medianErrors([
      { actual: 100, predicted: predicted({ ECON: 110 }, 100) },
      { actual: 100, predicted: predicted({ ECON: 70 }, 150) },
      { actual: 200, predicted: predicted({ ECON: 160 }, 220) },
    ]);
    expect(errors.ECON).toBeCloseTo(0.2, 12);
    expect(errors.EWMA).toBeCloseTo(0.1, 12);
  });

  it('has PFTK as a rival under Reno alone', () => {
    expect(rivalsUnder('cubic')).toEqual(['EWMA', 'Holt-Winters', 'last sample', 'harmonic mean']);
    expect(rivalsUnder('reno')).toContain('PFTK');
  });
});

describe('a transfer in mid-flow', () => {
  it('takes until so many further bytes are delivered, and is left out where the flow ends before', () => {
    const flow = flowOf(30, () => 1e6);
    const seconds = predictSeconds(flow).slice(0, 1);
    const transfers = predictTransfers(flow, seconds);
    // From 11 s on 19 MB are left.
    expect(transfers.map(({ bytes, actual }) => [bytes / 1e6, Number(actual.toFixed(6))])).toEqual([
      [1, 1],
      [2, 2],
      [5, 5],
      [10, 10],
    ]);
    expect(transfers[2]!.predicted['last sample']).toBeCloseTo(5, 9);
  });
});

describe('verdicts on flows', () => {
  /** Constant rates, which all histories predict without an error. */
  const steady = (changes?: Partial<LongFlow>) => flowOf(30, () => 100_000, changes);

  it('refute ECON where a rival errs less', () => {
    const finding = secondsFinding(steady(), 0.5);
    expect(finding).toMatchObject({ real: { max: expect.closeTo(0, 9) } });
    expect(judgeFinding(finding)).toBe('refuted');
    expect(judgeFinding(renoFinding([steady({ congestionControl: 'reno' })]))).toBe('refuted');
  });

  it('reproduce ECON where its error is at most the paper’s and the smallest', () => {
    // Rates jump between what ECON’s constant state predicts and a tenth of it: histories are wrong, ECON half of the time.
    const econ = predictSeconds(steady())[0]!.predicted.ECON;
    const jumping = flowOf(40, (second) => (second % 3 === 0 ? econ / 10 : econ));
    const finding = secondsFinding(jumping, 0.078);
    expect(finding).toMatchObject({ real: { max: 0.078, value: expect.closeTo(0, 2) } });
    expect(judgeFinding(finding)).toBe('reproduced');
    // Beyond the paper's error it is refuted, though it is the smallest.
    expect(
      judgeFinding(
        secondsFinding(
          flowOf(40, (second) => (second % 3 === 0 ? econ / 10 : 0.9 * econ)),
          0.078,
        ),
      ),
    ).toBe('refuted');
  });

  it('judge each two minutes after a change of the network by themselves', () => {
    const steadyRate = 100_000;
    const { ECON: econ } = predictSeconds(flowOf(12, () => steadyRate))[0]!.predicted;
    // After the first change only ECON is right in most seconds, after the others every history is right.
    const flow = flowOf(
      600,
      (second) => (second >= 120 && second < 240 ? (second % 3 === 0 ? econ / 10 : econ) : steadyRate),
      { congestionControl: 'reno' },
    );
    const finding = changesFinding(flow);
    expect(finding).toMatchObject({ real: { value: 0.25, min: 1 } });
    expect(judgeFinding(finding)).toBe('refuted');
  });

  it('count the losses at which no rival predicts transfers better', () => {
    expect(latencyFinding([flowOf(30, () => 1e6)])).toMatchObject({ real: { value: 0, min: 1 } });
  });

  it('do not judge sizes that no flow has', () => {
    expect(sizesFinding([flowOf(30, () => 1e6)])).toMatchObject({ kind: 'skipped' });
  });
});

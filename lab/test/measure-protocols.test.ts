import { describe, expect, it } from 'vitest';
import { type FailedLoad, type Load, protocolArgs } from '../src/loads/loads.ts';
import { type Attempt, type Measured, measureProtocols } from '../src/loads/measure.ts';
import {
  bootstrapInterval,
  bootstrapMedian,
  bootstrapMedianRatio,
  coefficientOfVariation,
  median,
  spread,
} from '../src/statistics.ts';

const load = (pltMs: number, proved = true): Load => ({
  ok: true,
  pltMs,
  fcpMs: null,
  lcpMs: null,
  requests: [],
  proved,
  failed: [],
  recording: null,
});
const failure = (reason: string): FailedLoad => ({ ok: false, kind: 'unreachable', reason });

/** Answers with the loads in turn and writes down who was asked. */
function loader(name: string, answers: (Load | FailedLoad)[], asked: string[] = []) {
  let next = 0;
  return {
    async load() {
      asked.push(name);
      const answer = answers[next++];
      if (answer === undefined) throw new Error(`${name} was asked ${next} times`);
      return answer;
    },
  };
}

describe('spread', () => {
  it('gives the extremes of few values', () => {
    expect(spread([30, 10, 20])).toEqual({ median: 20, low: 10, high: 30, range: 'min-max' });
  });

  it('gives tenth and ninetieth percentiles of ten and more', () => {
    // 0, 10, …, 100: simple-statistics takes the value at position ceil(11 × 0.1) = 2nd and ceil(11 × 0.9) = 10th.
    const values = Array.from({ length: 11 }, (_, index) => index * 10);
    expect(spread(values)).toEqual({ median: 50, low: 10, high: 90, range: 'p10-p90' });
  });

  it.each([[[]], [[1, Number.NaN]]])('refuses %j', (values) => {
    expect(() => spread(values)).toThrow(RangeError);
  });
});

describe('coefficientOfVariation', () => {
  it('is the sample standard deviation over the mean', () => {
    // Deviations −2, 0, 2: variance 8 / 2, mean 10.
    expect(coefficientOfVariation([8, 10, 12])).toBeCloseTo(0.2, 12);
    expect(coefficientOfVariation([7])).toBeNull();
  });

  it('refuses a mean of 0', () => {
    expect(() => coefficientOfVariation([-1, 1])).toThrow(RangeError);
  });
});

describe('bootstrapMedian', () => {
  it('follows the distribution that resampling three values has', () => {
    // The median of three draws from 1, 2, 3 is 1 with probability 7/27, 2 with 13/27, 3 with 7/27.
    expect(bootstrapMedian([3, 1, 2])).toEqual({ estimate: 2, low: 1, high: 3 });
    expect(bootstrapMedian([3, 1, 2], { level: 0.4 })).toEqual({ estimate: 2, low: 2, high: 2 });
  });

  it('comes near the theory of many values', () => {
    // Of 401 uniform values the median's standard error is 1 / (2 √401).
    const values = Array.from({ length: 401 }, (_, index) => index / 400);
    const { estimate, low, high } = bootstrapMedian(values);
    const error = 1 / (2 * Math.sqrt(401));
    expect(estimate).toBe(0.5);
    expect((high - low) / (2 * 1.96 * error)).toBeCloseTo(1, 1);
  });

  it('takes the middle of an even number of values', () => {
    expect(bootstrapMedian([5, 5, 5, 5])).toEqual({ estimate: 5, low: 5, high: 5 });
    expect(median([1, 2, 4, 9])).toBe(3);
  });

  it('gives the same interval for the same seed, and hardly another for another', () => {
    const values = Array.from({ length: 30 }, (_, index) => 1000 + 37 * ((index * 7) % 30));
    expect(bootstrapMedian(values, { seed: 5 })).toEqual(bootstrapMedian(values, { seed: 5 }));
    const [one, other] = [5, 6].map((seed) => bootstrapMedian(values, { seed }));
    expect(Math.abs(one!.low / other!.low - 1)).toBeLessThan(0.05);
  });

  it('refuses no values', () => {
    expect(() => bootstrapMedian([])).toThrow(RangeError);
  });
});

describe('bootstrapMedianRatio', () => {
  it('divides the medians', () => {
    expect(bootstrapMedianRatio([20, 20, 20], [10, 10, 10])).toEqual({ estimate: 2, low: 2, high: 2 });
  });

  it('draws pairs together, so that what both sides meet does not widen it', () => {
    expect(bootstrapMedianRatio([8, 10, 30], [4, 5, 15])).toEqual({ estimate: 2, low: 2, high: 2 });
    // Ratios of 9/8, 2 and 11/4; the outer ones are those of the medians with probability 7/27 each.
    const { estimate, low, high } = bootstrapMedianRatio([9, 10, 11], [8, 5, 4]);
    expect({ estimate, low, high }).toEqual({ estimate: 2, low: 9 / 8, high: 11 / 4 });
  });

  it('refuses sides that are no pairs, and a baseline of 0', () => {
    expect(() => bootstrapMedianRatio([1, 2], [1])).toThrow(/expected pairs/);
    expect(() => bootstrapMedianRatio([1], [0])).toThrow(/baseline above 0/);
  });
});

describe('bootstrapInterval', () => {
  it('is none where a tenth of the resamples have no figure', () => {
    let asked = 0;
    expect(bootstrapInterval(1, () => (asked++ % 5 === 0 ? null : 1))).toBeNull();
  });
});

describe('what never ended', () => {
  it('counts as infinitely long', () => {
    expect(median([1, Number.POSITIVE_INFINITY, 3])).toBe(3);
    expect(median([1, Number.POSITIVE_INFINITY])).toBe(Number.POSITIVE_INFINITY);
    expect(spread([2, Number.POSITIVE_INFINITY, 1])).toMatchObject({ median: 2, low: 1 });
    expect(coefficientOfVariation([1, Number.POSITIVE_INFINITY])).toBeNull();
    expect(bootstrapMedian([1, 2, Number.POSITIVE_INFINITY])).toMatchObject({
      low: 1,
      high: Number.POSITIVE_INFINITY,
    });
  });
});

describe('protocolArgs', () => {
  it('forces QUIC on every host for h3, and on a port nobody uses for the natural choice', () => {
    expect(protocolArgs('h3', ['a.test', 'b.test'])).toContain(
      '--origin-to-force-quic-on=a.test:443,b.test:443',
    );
    expect(protocolArgs('natural', ['a.test', 'b.test'])).toContain(
      '--origin-to-force-quic-on=a.test:9,b.test:9',
    );
  });

  it('forces QUIC under an assignment on the origins that are to have it, and leaves it off elsewhere', () => {
    const assignment = {
      'https://a.test': 'h3',
      'https://b.test': 'h2',
      'https://c.test:8443': 'h3',
    } as const;
    expect(protocolArgs({ assignment }, ['a.test', 'b.test', 'c.test'])).toEqual([
      '--enable-quic',
      '--origin-to-force-quic-on=a.test:443,c.test:8443',
    ]);
    expect(protocolArgs({ assignment: { 'https://a.test': 'h1' } }, ['a.test'])).toEqual(['--disable-quic']);
  });

  it('leaves HTTP/2 on for h2 alone', () => {
    expect(protocolArgs('h1', [])).toEqual(['--disable-http2', '--disable-quic']);
    expect(protocolArgs('h2', [])).toEqual(['--disable-quic']);
  });
});

describe('measureProtocols', () => {
  const common = { url: 'https://a.test/', timeoutMs: 1000 };

  it('takes turns in an order that changes', async () => {
    const asked: string[] = [];
    const three = () => [load(1), load(2), load(3)];
    await measureProtocols({
      ...common,
      loadsPerProtocol: 3,
      browsers: {
        h1: loader('h1', three(), asked),
        h2: loader('h2', three(), asked),
        h3: loader('h3', three(), asked),
      },
    });
    expect(asked).toEqual(['h1', 'h2', 'h3', 'h3', 'h2', 'h1', 'h2', 'h3', 'h1']);
  });

  it('sums up what was loaded and counts what was proved', async () => {
    const measured = await measureProtocols({
      ...common,
      loadsPerProtocol: 3,
      browsers: { h2: loader('h2', [load(30), load(10, false), load(20)]) },
    });
    expect(measured.h2).toMatchObject({
      medianMs: 20,
      lowMs: 10,
      highMs: 30,
      range: 'min-max',
      proved: 2,
      repeated: 0,
      failed: 0,
    });
  });

  it('drops and repeats disturbed loads, and counts them', async () => {
    const measured = await measureProtocols({
      ...common,
      loadsPerProtocol: 2,
      browsers: { h2: loader('h2', [load(900), load(10), load(12)]) },
      hooks: { afterLoad: async (_, { pltMs }) => (pltMs > 100 ? 'repeat' : 'keep') },
    });
    expect(measured.h2).toMatchObject({ medianMs: 11, repeated: 1 });
    expect((measured.h2 as Measured).loads).toHaveLength(2);
  });

  it('tells before each load which it is', async () => {
    const attempts: Attempt[] = [];
    await measureProtocols({
      ...common,
      loadsPerProtocol: 2,
      browsers: { h2: loader('h2', [load(900), failure('once'), load(10), load(12)]) },
      hooks: {
        beforeLoad: async (_, attempt) => void attempts.push(attempt),
        afterLoad: async (_, { pltMs }) => (pltMs > 100 ? 'repeat' : 'keep'),
      },
    });
    expect(attempts).toEqual([
      { round: 0, failures: 0 },
      { round: 0, failures: 0 },
      { round: 0, failures: 1 },
      { round: 1, failures: 0 },
    ]);
  });

  it('keeps a load at last when the disturbance does not end', async () => {
    const measured = await measureProtocols({
      ...common,
      loadsPerProtocol: 1,
      browsers: {
        h2: loader(
          'h2',
          Array.from({ length: 5 }, () => load(50)),
        ),
      },
      hooks: { afterLoad: async () => 'repeat' },
    });
    expect(measured.h2).toMatchObject({ medianMs: 50, repeated: 4 });
  });

  it('calls a protocol unavailable after two failures and asks it no more', async () => {
    const asked: string[] = [];
    const totals: number[] = [];
    const measured = await measureProtocols({
      ...common,
      loadsPerProtocol: 2,
      browsers: {
        h2: loader('h2', [load(1), load(2)], asked),
        h3: loader('h3', [failure('no answer'), failure('no answer')], asked),
      },
      onProgress: ({ total }) => totals.push(total),
    });
    expect(measured.h3).toEqual({ unavailable: 'no answer' });
    expect(asked).toEqual(['h2', 'h3', 'h3', 'h2']);
    expect(totals).toEqual([4, 2, 2]);
  });

  it('tries a failed load again and counts the failure', async () => {
    const measured = await measureProtocols({
      ...common,
      loadsPerProtocol: 1,
      browsers: { h3: loader('h3', [failure('once'), load(7)]) },
    });
    expect(measured.h3).toMatchObject({ medianMs: 7, failed: 1 });
  });

  it('stops when it is told to', async () => {
    const stop = new AbortController();
    const running = measureProtocols({
      ...common,
      loadsPerProtocol: 5,
      browsers: { h2: loader('h2', [load(1), load(2)]) },
      signal: stop.signal,
      onProgress: ({ done }) => done === 2 && stop.abort(new Error('enough')),
    });
    await expect(running).rejects.toThrow('enough');
  });

  it('refuses a number of loads that is none', async () => {
    await expect(measureProtocols({ ...common, loadsPerProtocol: 0, browsers: {} })).rejects.toThrow(
      /loadsPerProtocol 0/,
    );
  });
});

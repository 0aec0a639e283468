import { median } from '@hopwise/contract';
import { describe, expect, it } from 'vitest';
import {
  bootstrapInterval,
  bootstrapMedian,
  bootstrapMedianRatio,
  coefficientOfVariation,
  spread,
} from '../src/statistics.ts';

describe('spread', () => {
  it('gives the extremes of few values', () => {
    expect(spread([30, 10, 20])).toEqual({ median: 20, low: 10, high: 30, range: 'min-max' });
  });

  it('gives 10th and 90th percentiles of ten values or more', () => {
    // 0, 10, …, 100: the values at 10 × 0.1 = 1 and 10 × 0.9 = 9, from 0.
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
  it('matches the exact distribution of resampling three values', () => {
    // The median of three draws from 1, 2, 3 is 1 with probability 7/27, 2 with 13/27, 3 with 7/27.
    expect(bootstrapMedian([3, 1, 2])).toEqual({ estimate: 2, low: 1, high: 3 });
    expect(bootstrapMedian([3, 1, 2], { level: 0.4 })).toEqual({ estimate: 2, low: 2, high: 2 });
  });

  it('approaches the theory for many values', () => {
    // The standard error of the median of 401 uniform values is 1 / (2 √401).
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

  it('gives the same interval for the same seed, and a similar one for another', () => {
    const values = Array.from({ length: 30 }, (_, index) => 1000 + 37 * ((index * 7) % 30));
    expect(bootstrapMedian(values, { seed: 5 })).toEqual(bootstrapMedian(values, { seed: 5 }));
    const [one, other] = [5, 6].map((seed) => bootstrapMedian(values, { seed }));
    expect(Math.abs(one!.low / other!.low - 1)).toBeLessThan(0.05);
  });

  it('refuses an empty list', () => {
    expect(() => bootstrapMedian([])).toThrow(RangeError);
  });
});

describe('bootstrapMedianRatio', () => {
  it('divides the medians', () => {
    expect(bootstrapMedianRatio([20, 20, 20], [10, 10, 10])).toEqual({ estimate: 2, low: 2, high: 2 });
  });

  it('resamples pairs together, so that common variation does not widen it', () => {
    expect(bootstrapMedianRatio([8, 10, 30], [4, 5, 15])).toEqual({ estimate: 2, low: 2, high: 2 });
    // Ratios of 9/8, 2 and 11/4; the outer ones are those of the medians with probability 7/27 each.
    const { estimate, low, high } = bootstrapMedianRatio([9, 10, 11], [8, 5, 4]);
    expect({ estimate, low, high }).toEqual({ estimate: 2, low: 9 / 8, high: 11 / 4 });
  });

  it('refuses sides of different lengths, and a baseline of 0', () => {
    expect(() => bootstrapMedianRatio([1, 2], [1])).toThrow(/expected pairs/);
    expect(() => bootstrapMedianRatio([1], [0])).toThrow(/baseline above 0/);
  });
});

describe('bootstrapInterval', () => {
  it('is null where a tenth of the resamples have no figure', () => {
    let asked = 0;
    expect(bootstrapInterval(1, () => (asked++ % 5 === 0 ? null : 1))).toBeNull();
  });
});

describe('a load that never ended', () => {
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

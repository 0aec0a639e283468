import { mean, median, quantile, sum } from '@hopwise/contract';
import { describe, expect, it } from 'vitest';

describe('quantile', () => {
  it('interpolates linearly between the nearest values, in whatever order they are given', () => {
    // The 25th percentile of 10, 20, 40 lies halfway from the first to the second, the 90th at 20 + 0.8 × 20.
    expect(quantile([40, 10, 20], 0.25)).toBe(15);
    expect(quantile([40, 10, 20], 0.9)).toBeCloseTo(36, 12);
    expect([0, 1].map((share) => quantile([40, 10, 20], share))).toEqual([10, 40]);
    expect(quantile([7], 0.9)).toBe(7);
  });

  it('leaves the values as they are', () => {
    const values = [3, 1, 2];
    quantile(values, 0.5);
    expect(values).toEqual([3, 1, 2]);
  });

  it('takes infinite values', () => {
    const never = Number.POSITIVE_INFINITY;
    expect(quantile([1, never, 3], 0.5)).toBe(3);
    expect(quantile([1, never], 0.1)).toBe(never);
    expect(quantile([never, never], 0.1)).toBe(never);
    expect(quantile([-never, 1], 0.5)).toBe(-never);
  });

  it.each([[[]], [[1, Number.NaN]]])('refuses %j', (values) => {
    expect(() => quantile(values, 0.5)).toThrow(RangeError);
    expect(() => median(values)).toThrow(RangeError);
  });
});

describe('median', () => {
  it('is the middle value, or the mean of the two in the middle', () => {
    expect(median([9, 1, 4])).toBe(4);
    expect(median([9, 1, 2, 4])).toBe(3);
  });
});

describe('mean', () => {
  it('is the sum over the number of values', () => {
    expect(mean([1, 2, 6])).toBe(3);
  });

  it('refuses no values', () => {
    expect(() => mean([])).toThrow(RangeError);
  });
});

it('adds up to 0 without values', () => {
  expect(sum([1, 2.5, -4])).toBe(-0.5);
  expect(sum([])).toBe(0);
});

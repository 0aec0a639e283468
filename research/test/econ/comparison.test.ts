import { describe, expect, test } from 'vitest';
import {
  byQuantity,
  CONFIGURATIONS,
  type Compared,
  compare,
  signedError,
  zScore,
} from '../../src/econ/comparison.ts';

/** Periods and flows drawn for each quantity of a configuration. */
const SAMPLES = 1_200;

describe('sums beside the oracle', () => {
  const compared = CONFIGURATIONS.flatMap((configuration, index) =>
    compare(configuration, SAMPLES, 1_009 * (index + 1)),
  );
  const quantities = byQuantity(compared);

  test('covers each kind of configuration', () => {
    expect(CONFIGURATIONS.length).toBe(42);
    expect(quantities.size).toBe(15);
  });

  // Latencies come from a table between whose columns lines are drawn: up to 1.5% may be that.
  test('no sum deviates from the simulation by more than chance: |z| ≤ 4.2 for each of 630', () => {
    const far = compared.filter((one) => Math.abs(zScore(one)) > 4.2);
    expect(
      far.filter((one) => !(isTabled(one) && Math.abs(signedError(one)) < 0.015)).map(described),
    ).toEqual([]);
  });

  // The sum of 42 independent standard normal variates over √42 is one too: a bias far below one
  // configuration's noise shows.
  const summed = [...quantities.keys()].filter((quantity) => !quantity.startsWith('L('));
  test.each(summed)('%s leans to no side: pooled |z| ≤ 3.5', (quantity) => {
    const scores = quantities.get(quantity)!.map(zScore);
    const pooled = scores.reduce((sum, score) => sum + score, 0) / Math.sqrt(scores.length);
    expect(Math.abs(pooled)).toBeLessThan(3.5);
  });

  // The median is what noise 1,200 draws leave; over 42 configurations it averages out.
  test.each([...quantities.keys()])(
    '%s is right in size too: median error below 0.025, bias below 0.01',
    (quantity) => {
      const errors = quantities.get(quantity)!.map(signedError);
      // A share of some dozen losses in 1,200 flows is noisier than a mean.
      const noise = quantity === 'slow start loss' ? 3 : 1;
      const sizes = errors.map(Math.abs).sort((a, b) => a - b);
      expect(sizes[sizes.length >> 1]!).toBeLessThan(0.025 * noise);
      expect(Math.abs(errors.reduce((sum, error) => sum + error, 0) / errors.length)).toBeLessThan(
        0.01 * noise,
      );
    },
  );
});

function isTabled({ quantity }: Compared): boolean {
  return quantity.startsWith('L(');
}

function described(one: Compared): string {
  const { configuration, quantity, closed, simulated } = one;
  return `${configuration}: ${quantity} ${closed}, simulated ${simulated.value}, z ${zScore(one).toFixed(1)}`;
}

import { describe, expect, it } from 'vitest';
import { takeTurns } from '../../src/loads/turns.ts';

/** The distinct numbers of occurrences of the values. */
const counted = (values: string[]): number[] => [
  ...new Set(values.map((value) => values.filter((other) => other === value).length)),
];

describe('takeTurns', () => {
  it.each([
    [2, 2],
    [3, 6],
    [4, 4],
    [5, 10],
  ])(
    'has each of %d values in each place, and after each other value, equally often in %d rounds',
    (count, cycle) => {
      const values = Array.from({ length: count }, (_, index) => index);
      const rounds = Array.from({ length: cycle }, (_, round) => takeTurns(values, round));
      for (const order of rounds) expect([...order].sort()).toEqual(values);
      const places = rounds.flatMap((order) => order.map((value, place) => `${value} at ${place}`));
      expect(new Set(places).size).toBe(count ** 2);
      expect(counted(places)).toEqual([cycle / count]);
      const pairs = rounds.flatMap((order) =>
        order.slice(1).map((value, index) => `${value} after ${order[index]}`),
      );
      expect(new Set(pairs).size).toBe(count * (count - 1));
      expect(counted(pairs)).toEqual([cycle / count]);
      expect(takeTurns(values, cycle)).toEqual(rounds[0]);
      expect(takeTurns(values, -1)).toEqual(rounds.at(-1));
    },
  );

  it('returns a single value unchanged', () => {
    expect(takeTurns(['h2'], 7)).toEqual(['h2']);
    expect(takeTurns([], 0)).toEqual([]);
  });
});

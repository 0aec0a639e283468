import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../src/random.ts';

describe('Random', () => {
  it('repeats its numbers, and its bytes fill their length', () => {
    const draw = () => {
      const random = new SeededRandom(42);
      return [
        random.int(0, 9),
        random.fraction(),
        random.pick(['a', 'b', 'c']),
        ...random.shuffle([1, 2, 3, 4]),
        ...random.bytes(7),
      ];
    };
    expect(draw()).toEqual(draw());
    expect(new SeededRandom(1).bytes(10_001).slice(-2)).not.toEqual(new Uint8Array(2));
  });

  it('has a log-normal of median 1', () => {
    const random = new SeededRandom(3);
    const values = Array.from({ length: 4001 }, () => random.logNormal(0.5)).sort((a, b) => a - b);
    expect(values[2000]).toBeGreaterThan(0.95);
    expect(values[2000]).toBeLessThan(1.05);
  });
});

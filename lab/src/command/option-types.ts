/** Types of options for commander. Each throws InvalidArgumentError saying what was expected. */
import { BYTES, expectedQuantity, readQuantity } from '@hopwise/contract';
import { InvalidArgumentError } from 'commander';

export function number(low: number, high: number, what: string) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= low && value <= high)) {
      throw new InvalidArgumentError(`expected ${what} from ${low} to ${high}`);
    }
    return value;
  };
}

export function integer(low: number, high: number, what = 'a whole number') {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < low || value > high) {
      throw new InvalidArgumentError(`expected ${what} from ${low} to ${high}`);
    }
    return value;
  };
}

/** A size, as `5000000` or `5MB`. */
export function bytes(low: number, high: number) {
  return (text: string): number => {
    const count = readQuantity(text, BYTES);
    if (!Number.isInteger(count) || count < low || count > high) {
      throw new InvalidArgumentError(`expected ${expectedQuantity(BYTES, [low, high])}`);
    }
    return count;
  };
}

/** Comma-separated names, without duplicates. */
export function list(text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.includes('')) throw new InvalidArgumentError('expected names separated by commas');
  return [...new Set(items)];
}

/** Some of `known`, separated by commas. */
export function someOf<T extends string>(known: readonly T[]) {
  return (text: string): T[] =>
    list(text).map((name) => {
      const one = known.find((each) => each === name);
      if (one === undefined)
        throw new InvalidArgumentError(`expected some of ${known.join(', ')}, got ${JSON.stringify(name)}`);
      return one;
    });
}

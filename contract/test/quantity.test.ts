import { expect, test } from 'vitest';
import { BYTES, readQuantity } from '../src/quantity.ts';

test.each([
  ['5000000', 5_000_000],
  ['5MB', 5_000_000],
  ['0.5 mb', 500_000],
  ['1.1kB', 1100],
  ['2GiB', 2 ** 31],
  ['5 apples', Number.NaN],
  ['5M', Number.NaN],
  ['', Number.NaN],
])('a size is read from "%s"', (text, bytes) => {
  expect(readQuantity(text, BYTES)).toBe(bytes);
});

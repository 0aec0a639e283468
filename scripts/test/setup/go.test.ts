import { expect, test } from 'vitest';
import { GO_TOOLCHAIN, isAtLeast, oldestGo } from '../../setup/go.mjs';

test.each([
  ['1.24', '1.24.0', true],
  ['1.24.3', '1.24.0', true],
  ['1.26', '1.24.0', true],
  ['2.0', '1.24.0', true],
  ['1.23.12', '1.24.0', false],
  ['1.9', '1.21', false],
  ['1.19.8', '1.21', false],
])('Go %s is %s or later: %s', (version, oldest, expected) => {
  expect(isAtLeast(version, oldest)).toBe(expected);
});

test('the Go that set-up brings compiles the lab', () => {
  expect(isAtLeast(GO_TOOLCHAIN.version, oldestGo())).toBe(true);
  expect(GO_TOOLCHAIN.sum).toMatch(/^h1:[\w+/]{43}=$/);
});

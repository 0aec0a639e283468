import { isAskedWithoutProxy } from '@hopwise/contract';
import { expect, it } from 'vitest';

it.each([
  ['localhost', true],
  ['localhost.', true],
  ['app.localhost', true],
  ['127.9.9.9', true],
  ['[::1]', true],
  ['169.254.1.1', true],
  ['[fe80::1]', true],
  ['localhost.example', false],
  ['mylocalhost', false],
  ['127.example', false],
  ['0.0.0.0', false],
  ['10.0.0.1', false],
  ['[::ffff:7f00:1]', false],
  ['[fd00::1]', false],
])('%s: %s', (host, expected) => {
  expect(isAskedWithoutProxy(host)).toBe(expected);
});

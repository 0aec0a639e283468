import { expect, test } from 'vitest';
import { isLocalAddress } from '../src/background/local-address.ts';

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.1',
  '192.168.1.1',
  '169.254.0.7',
  '::1',
  '[::1]',
  '::ffff:192.168.1.1',
  'fe80::1',
  'FD00::7',
])('%s is the machine or its neighbour', (ip) => {
  expect(isLocalAddress(ip)).toBe(true);
});

test.each([
  '192.0.2.1',
  '172.15.0.1',
  '172.32.0.1',
  '8.8.8.8',
  '2001:db8::1',
  '::ffff:192.0.2.1',
  'fec0:1::2',
])('%s is not', (ip) => {
  expect(isLocalAddress(ip)).toBe(false);
});

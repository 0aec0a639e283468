import { expect, it } from 'vitest';
import { addressSpace, mayReach } from '../src/curl/address-space.ts';

it.each([
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['0.0.0.0', 'loopback'],
  ['::1', 'loopback'],
  ['::', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['10.1.2.3', 'local'],
  ['172.31.255.255', 'local'],
  ['192.168.0.1', 'local'],
  ['169.254.169.254', 'local'],
  ['100.127.0.1', 'local'],
  ['fd00::1', 'local'],
  ['fe80::1%eth0', 'local'],
  ['::ffff:192.168.0.1', 'local'],
  ['172.32.0.1', 'public'],
  ['100.128.0.1', 'public'],
  ['9.9.9.9', 'public'],
  ['2620:fe::fe', 'public'],
  ['::ffff:9.9.9.9', 'public'],
])('%s is %s', (ip, space) => {
  expect(addressSpace(ip)).toBe(space);
});

it('lets a page reach outwards only', () => {
  expect(mayReach('public', 'public')).toBe(true);
  expect(mayReach('public', 'local')).toBe(false);
  expect(mayReach('local', 'loopback')).toBe(false);
  expect(mayReach('local', 'local')).toBe(true);
  expect(mayReach('loopback', 'public')).toBe(true);
});

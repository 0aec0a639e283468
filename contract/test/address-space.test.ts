import { BlockList, isIPv6 } from 'node:net';
import * as fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { addressSpace, isLocalAddress, mayReach } from '../src/address-space.ts';

it.each([
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['0.0.0.0', 'loopback'],
  ['::1', 'loopback'],
  ['[::1]', 'loopback'],
  ['::', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['10.1.2.3', 'local'],
  ['172.16.0.1', 'local'],
  ['172.31.255.255', 'local'],
  ['192.168.0.1', 'local'],
  ['169.254.169.254', 'local'],
  ['100.64.0.0', 'local'],
  ['100.127.255.255', 'local'],
  ['198.18.0.0', 'local'],
  ['198.19.255.255', 'local'],
  ['FD00::7', 'local'],
  ['fe80::1', 'local'],
  ['fe80::1%eth0', 'local'],
  ['febf::1', 'local'],
  ['::ffff:192.168.0.1', 'local'],
  ['::ffff:c0a8:1', 'local'],
  ['172.15.0.1', 'public'],
  ['172.32.0.1', 'public'],
  ['100.63.255.255', 'public'],
  ['100.128.0.1', 'public'],
  ['198.17.255.255', 'public'],
  ['198.20.0.0', 'public'],
  ['9.9.9.9', 'public'],
  ['192.0.2.1', 'public'],
  ['2620:fe::fe', 'public'],
  ['2001:db8::1', 'public'],
  ['fec0:1::2', 'public'],
  ['::2', 'public'],
  ['::ffff:9.9.9.9', 'public'],
])('%s is %s', (ip, space) => {
  expect(addressSpace(ip)).toBe(space);
  expect(isLocalAddress(ip)).toBe(space !== 'public');
});

it.each([
  '',
  'localhost',
  '127.0.0',
  '127.0.0.256',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '::1.2.3',
  'fe80:',
  '12345::',
])('counts what is no address as public: "%s"', (text) => {
  expect(addressSpace(text)).toBe('public');
});

test("agrees with Node's reading of addresses", () => {
  const local = new BlockList();
  local.addSubnet('fc00::', 7, 'ipv6');
  local.addSubnet('fe80::', 10, 'ipv6');
  local.addSubnet('10.0.0.0', 8);
  local.addSubnet('172.16.0.0', 12);
  local.addSubnet('192.168.0.0', 16);
  local.addSubnet('169.254.0.0', 16);
  local.addSubnet('100.64.0.0', 10);
  local.addSubnet('198.18.0.0', 15);
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8);
  loopback.addSubnet('0.0.0.0', 8);
  loopback.addSubnet('::', 127, 'ipv6');
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (ip) => {
      const family = isIPv6(ip) ? 'ipv6' : 'ipv4';
      const expected = loopback.check(ip, family) ? 'loopback' : local.check(ip, family) ? 'local' : 'public';
      expect(addressSpace(ip)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

it('lets a page reach outwards only', () => {
  expect(mayReach('public', 'public')).toBe(true);
  expect(mayReach('public', 'local')).toBe(false);
  expect(mayReach('local', 'loopback')).toBe(false);
  expect(mayReach('local', 'local')).toBe(true);
  expect(mayReach('loopback', 'public')).toBe(true);
});

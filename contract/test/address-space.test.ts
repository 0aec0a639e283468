import { BlockList, isIPv6 } from 'node:net';
import * as fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { addressSpace, isLocalAddress, mayReach } from '../src/address-space.ts';

/** By the IANA registries, without the blocks that embed an IPv4 address. */
const LOCAL = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '255.255.255.255/32',
  '64:ff9b:1::/48',
  '100::/64',
  '100:0:0:1::/64',
  '2001::/23',
  '2001::/32',
  '2001:2::/48',
  '2001:10::/28',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** Parts of `LOCAL` that the registries mark as globally reachable. */
const GLOBALLY_REACHABLE = [
  '192.0.0.9/32',
  '192.0.0.10/32',
  '2001:1::1/128',
  '2001:1::2/128',
  '2001:1::3/128',
  '2001:3::/32',
  '2001:4:112::/48',
  '2001:20::/28',
  '2001:30::/28',
];

const GLOBAL_UNICAST = blockList(['2000::/3']);

function blockList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [net = '', length] = cidr.split('/');
    list.addSubnet(net, Number(length), isIPv6(net) ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** The groups of 16 bits of an IPv4 address, in hexadecimal. */
function groupsOf(ipv4: string): [string, string] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
}

function toNumber(ip: string): bigint {
  if (!isIPv6(ip)) return ip.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
  const [head = [], tail = []] = ip.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = new Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

function toText(value: bigint, isV6: boolean): string {
  const parts = isV6 ? 8 : 4;
  const bits = isV6 ? 16 : 8;
  const all = Array.from({ length: parts }, (_, index) =>
    BigInt.asUintN(bits, value >> BigInt(bits * (parts - 1 - index))).toString(isV6 ? 16 : 10),
  );
  return all.join(isV6 ? ':' : '.');
}

function boundsOf(cidr: string): [first: string, last: string] {
  const [net = '', length] = cidr.split('/');
  const isV6 = isIPv6(net);
  const size = 1n << BigInt((isV6 ? 128 : 32) - Number(length));
  const first = toNumber(net);
  return [toText(first, isV6), toText(first + size - 1n, isV6)];
}

function inBlock(cidr: string): fc.Arbitrary<string> {
  const isV6 = cidr.includes(':');
  const [min, max] = boundsOf(cidr).map(toNumber) as [bigint, bigint];
  return fc.bigInt({ min, max }).map((value) => toText(value, isV6));
}

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
  ['192.0.2.1', 'local'],
  ['191.255.255.255', 'public'],
  ['192.0.1.0', 'public'],
  ['192.0.0.8', 'local'],
  ['192.0.0.9', 'public'],
  ['192.0.0.11', 'local'],
  ['223.255.255.255', 'public'],
  ['224.0.0.251', 'local'],
  ['240.0.0.1', 'local'],
  ['255.255.255.255', 'local'],
  ['2620:fe::fe', 'public'],
  ['1fff:ffff::1', 'local'],
  ['2000::', 'public'],
  ['3ffe:ffff::1', 'public'],
  ['3fff:fff::1', 'local'],
  ['3fff:1000::1', 'public'],
  ['4000::', 'local'],
  ['2001:db8::1', 'local'],
  ['2001:db9::', 'public'],
  ['2001:1ff:ffff::', 'local'],
  ['2001:200::', 'public'],
  ['fec0:1::2', 'local'],
  ['ff02::1', 'local'],
  ['::2', 'loopback'],
  ['::9.9.9.9', 'public'],
  ['::10.0.0.1', 'local'],
  ['64:ff9b::10.0.0.1', 'local'],
  ['64:ff9b::127.0.0.1', 'loopback'],
  ['64:ff9b::9.9.9.9', 'public'],
  ['64:ff9b:0:0:0:1:909:909', 'local'],
  ['64:ff9b:1::9.9.9.9', 'local'],
  ['2002:7f00:1::1', 'loopback'],
  ['2002:c0a8:1::1', 'local'],
  ['2002:909:909::1', 'public'],
  ['2001:0:909:909::1', 'local'],
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

test("agrees with Node's reading of addresses outside of IPv6 with an IPv4 address in it", () => {
  const local = blockList(LOCAL);
  const loopback = blockList(['127.0.0.0/8', '0.0.0.0/8', '::/127']);
  const exceptions = blockList(GLOBALLY_REACHABLE);
  const embedding = blockList(['::/96', '::ffff:0:0/96', '64:ff9b::/96', '2002::/16']);
  const within = fc.constantFrom(...LOCAL, ...GLOBALLY_REACHABLE).chain(inBlock);
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), within), (ip) => {
      const family = isIPv6(ip) ? 'ipv6' : 'ipv4';
      const has = (list: BlockList): boolean => list.check(ip, family);
      if (family === 'ipv6' && has(embedding) && !has(loopback)) return;
      const isLocal =
        !has(exceptions) && (has(local) || (family === 'ipv6' && !GLOBAL_UNICAST.check(ip, family)));
      expect(addressSpace(ip)).toBe(has(loopback) ? 'loopback' : isLocal ? 'local' : 'public');
    }),
    { numRuns: 5000 },
  );
});

test('an IPv4 address leads to the same space within every IPv6 address that carries it to its host', () => {
  const ipv4 = fc.oneof(
    fc.ipV4(),
    fc.constantFrom(...LOCAL.filter((cidr) => !cidr.includes(':'))).chain(inBlock),
  );
  fc.assert(
    fc.property(ipv4, fc.nat({ max: 0xffff }), (ip, subnet) => {
      const [high, low] = groupsOf(ip);
      const space = addressSpace(ip);
      expect(addressSpace(`::ffff:${ip}`)).toBe(space);
      expect(addressSpace(`64:ff9b::${ip}`)).toBe(space);
      expect(addressSpace(`2002:${high}:${low}:${subnet.toString(16)}::1`)).toBe(space);
      if (ip !== '0.0.0.0' && ip !== '0.0.0.1') expect(addressSpace(`::${ip}`)).toBe(space);
      expect(addressSpace(`64:ff9b:1::${ip}`)).toBe('local');
      expect(addressSpace(`2001:0:${high}:${low}::`)).toBe('local');
    }),
    { numRuns: 2000 },
  );
});

test.each([...LOCAL, '127.0.0.0/8', '0.0.0.0/8', '::/127', ...GLOBALLY_REACHABLE])(
  'the first and last address of %s are in it',
  (cidr) => {
    const [first, last] = boundsOf(cidr);
    const expected = GLOBALLY_REACHABLE.includes(cidr) ? ['public'] : ['local', 'loopback'];
    expect(expected).toContain(addressSpace(first));
    expect(expected).toContain(addressSpace(last));
  },
);

it('lets a page reach outwards only', () => {
  expect(mayReach('public', 'public')).toBe(true);
  expect(mayReach('public', 'local')).toBe(false);
  expect(mayReach('local', 'loopback')).toBe(false);
  expect(mayReach('local', 'local')).toBe(true);
  expect(mayReach('loopback', 'public')).toBe(true);
});

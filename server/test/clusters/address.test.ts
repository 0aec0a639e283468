import { expect, it } from 'vitest';
import {
  contains,
  formatPrefix,
  isClientAddress,
  narrowPrefix,
  parseAddress,
  parsePrefix,
  widePrefix,
} from '../../src/clusters/address.ts';
import { ClusterNames } from '../../src/clusters/cluster-names.ts';

const prefixes = (text: string) => {
  const address = parseAddress(text)!;
  return [narrowPrefix(address), widePrefix(address)].map(formatPrefix);
};

it('clusters clients by /24 and /16, and by /48 and /32', () => {
  expect(prefixes('203.0.113.77')).toEqual(['203.0.113.0/24', '203.0.0.0/16']);
  expect(prefixes('2001:db8:17:9::1')).toEqual(['2001:db8:17::/48', '2001:db8::/32']);
  expect(prefixes('::ffff:203.0.113.77')).toEqual(['203.0.113.0/24', '203.0.0.0/16']);
});

it.each(['', '1.2.3', '1.2.3.4; reboot', '1.2.3.4/8', 'fe80::1%eth0', '::1::2', '../..', '1.2.3.4\n'])(
  'takes %j for no address',
  (text) => expect(parseAddress(text)).toBeNull(),
);

it.each([
  '0.0.0.0',
  '127.0.0.1',
  '169.254.1.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'fe80::1',
  'ff02::1',
])('takes %s for no client', (text) => expect(isClientAddress(parseAddress(text)!)).toBe(false));

it('tells what a prefix contains', () => {
  const within = (outer: string, inner: string) => contains(parsePrefix(outer, 4)!, parsePrefix(inner, 4)!);
  expect(within('10.0.0.0/8', '10.200.3.0/24')).toBe(true);
  expect(within('10.128.0.0/9', '10.127.0.0/16')).toBe(false);
  expect(within('10.1.2.0/24', '10.1.0.0/16')).toBe(false);
  expect(within('default', '10.1.2.0/24')).toBe(true);
  expect(contains(parsePrefix('default', 6)!, parsePrefix('10.0.0.0/8', 4)!)).toBe(false);
});

it('names clusters by hashes of its key alone', () => {
  const names = new ClusterNames(Buffer.alloc(32, 1));
  const client = names.find('203.0.113.77')!;
  expect(names.find('203.0.113.1')).toMatchObject({ narrow: client.narrow, wide: client.wide });
  expect(names.find('203.0.114.1')!.narrow).not.toBe(client.narrow);
  expect(new ClusterNames(Buffer.alloc(32, 2)).find('203.0.113.77')!.narrow).not.toBe(client.narrow);
  expect(names.find('127.0.0.1')).toBeNull();
});

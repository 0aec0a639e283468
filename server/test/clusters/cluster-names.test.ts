import { expect, it } from 'vitest';
import { ClusterNames } from '../../src/clusters/cluster-names.ts';

const names = new ClusterNames(Buffer.alloc(32, 1));
const prefixes = (text: string) => {
  const { narrowPrefix, widePrefix } = names.find(text)!;
  return [narrowPrefix, widePrefix];
};

it('clusters clients by /24 and /16, and by /48 and /32', () => {
  expect(prefixes('203.0.113.77')).toEqual(['203.0.113.0/24', '203.0.0.0/16']);
  expect(prefixes('2001:db8:17:9::1')).toEqual(['2001:db8:17::/48', '2001:db8::/32']);
  expect(prefixes('::ffff:203.0.113.77')).toEqual(['203.0.113.0/24', '203.0.0.0/16']);
});

it.each([
  '',
  '1.2.3',
  '1.2.3.4; reboot',
  '1.2.3.4/8',
  'fe80::1%eth0',
  '2001:db8::1%any',
  '::1::2',
  '../..',
  '1.2.3.4\n',
])('takes %j for no address', (text) => expect(names.find(text)).toBeNull());

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
])('takes %s for no client', (text) => expect(names.find(text)).toBeNull());

it('names clusters by hashes of its key alone', () => {
  const client = names.find('203.0.113.77')!;
  expect(names.find('203.0.113.1')).toMatchObject({ narrow: client.narrow, wide: client.wide });
  expect(names.find('203.0.114.1')!.narrow).not.toBe(client.narrow);
  expect(new ClusterNames(Buffer.alloc(32, 2)).find('203.0.113.77')!.narrow).not.toBe(client.narrow);
  expect(names.find('127.0.0.1')).toBeNull();
});

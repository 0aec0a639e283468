import { BlockList, isIPv6 } from 'node:net';

/** Where an address leads, from the machine itself outwards (Local Network Access, section 2.1). */
export const ADDRESS_SPACES = ['loopback', 'local', 'public'] as const;
export type AddressSpace = (typeof ADDRESS_SPACES)[number];

const loopback = blockList(['127.0.0.0/8', '0.0.0.0/8', '::/127']);

/** RFC 1918, RFC 3927, RFC 4193, RFC 4291 section 2.5.6, RFC 6598, and RFC 2544, which local proxies use. */
const local = blockList([
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  '198.18.0.0/15',
  'fc00::/7',
  'fe80::/10',
]);

/** The space of an IP address as text; an IPv4 address mapped into IPv6 counts as what it maps. */
export function addressSpace(ip: string): AddressSpace {
  const address = ip.replace(/%.*$/, '');
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  if (loopback.check(address, family)) return 'loopback';
  return local.check(address, family) ? 'local' : 'public';
}

/** Whether a page from `page` may ask for resources in `target`: browsers let it reach outwards only. */
export function mayReach(page: AddressSpace, target: AddressSpace): boolean {
  return ADDRESS_SPACES.indexOf(target) >= ADDRESS_SPACES.indexOf(page);
}

function blockList(subnets: string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net, prefix] = subnet.split('/');
    list.addSubnet(net!, Number(prefix), net!.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

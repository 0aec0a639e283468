/** Where IP addresses lead. No part of Node or of the browser is used: the helper and the extension share this table. */

/** From the machine itself outwards (Local Network Access, section 2.1). */
export const ADDRESS_SPACES = ['loopback', 'local', 'public'] as const;
export type AddressSpace = (typeof ADDRESS_SPACES)[number];

/** Every block that is not public. Blocks do not overlap. */
const BLOCKS: readonly { cidr: string; space: AddressSpace; source: string }[] = [
  {
    cidr: '0.0.0.0/8',
    space: 'loopback',
    source: 'RFC 1122, section 3.2.1.3: this host; systems connect it to themselves',
  },
  { cidr: '127.0.0.0/8', space: 'loopback', source: 'RFC 1122, section 3.2.1.3: loopback' },
  { cidr: '::/127', space: 'loopback', source: 'RFC 4291, sections 2.5.2 and 2.5.3: unspecified, loopback' },
  { cidr: '10.0.0.0/8', space: 'local', source: 'RFC 1918, section 3: private networks' },
  { cidr: '172.16.0.0/12', space: 'local', source: 'RFC 1918, section 3: private networks' },
  { cidr: '192.168.0.0/16', space: 'local', source: 'RFC 1918, section 3: private networks' },
  { cidr: '169.254.0.0/16', space: 'local', source: 'RFC 3927, section 2.1: link-local' },
  {
    cidr: '100.64.0.0/10',
    space: 'local',
    source: 'RFC 6598, section 7: carrier-grade NAT, and overlay networks on the machine',
  },
  {
    cidr: '198.18.0.0/15',
    space: 'local',
    source: 'RFC 2544, appendix C.2.2: benchmarks, and local proxies that answer for names',
  },
  { cidr: 'fc00::/7', space: 'local', source: 'RFC 4193, section 3.1: unique local' },
  { cidr: 'fe80::/10', space: 'local', source: 'RFC 4291, section 2.5.6: link-local' },
];

const IPV4_BITS = 32;
const IPV6_BITS = 128;

/** An address as a number of `bits` bits. */
interface Address {
  value: bigint;
  bits: typeof IPV4_BITS | typeof IPV6_BITS;
}

const PREFIXES = BLOCKS.map(({ cidr, space }) => {
  const [net = '', length] = cidr.split('/');
  const { value, bits } = parseAddress(net)!;
  const shift = BigInt(bits - Number(length));
  return { bits, shift, prefix: value >> shift, space };
});

/**
 * The space of an IP address as text, with or without brackets and zone. An IPv4-mapped IPv6 address (RFC 4291, section
 * 2.5.5.2) has the space of its IPv4 address. Text that is no address counts as public.
 */
export function addressSpace(ip: string): AddressSpace {
  const address = parseAddress(ip);
  if (!address) return 'public';
  const block = PREFIXES.find(
    ({ bits, shift, prefix }) => bits === address.bits && address.value >> shift === prefix,
  );
  return block?.space ?? 'public';
}

/** Whether a page from `page` may request resources in `target`: browsers let it reach outwards only. */
export function mayReach(page: AddressSpace, target: AddressSpace): boolean {
  return ADDRESS_SPACES.indexOf(target) >= ADDRESS_SPACES.indexOf(page);
}

/** Whether an address is the machine's own or in its local network: its path is not the path to the web. */
export function isLocalAddress(ip: string): boolean {
  return addressSpace(ip) !== 'public';
}

/** @returns null for text that is no address. */
function parseAddress(text: string): Address | null {
  const ip = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (!ip.includes(':')) {
    const value = parseIpv4(ip);
    return value === null ? null : { value, bits: IPV4_BITS };
  }
  const value = parseIpv6(ip);
  if (value === null) return null;
  const isMapped = value >> BigInt(IPV4_BITS) === 0xffffn;
  return isMapped ? { value: BigInt.asUintN(IPV4_BITS, value), bits: IPV4_BITS } : { value, bits: IPV6_BITS };
}

function parseIpv4(text: string): bigint | null {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  if (!parts || parts.some((part) => part > 255)) return null;
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

/** The text forms of RFC 4291, section 2.2. */
function parseIpv6(text: string): bigint | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [head, tail] = [halves[0]!, halves[1] ?? ''].map(parseGroups);
  if (!head || !tail) return null;
  const missing = IPV6_BITS / 16 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const groups = [...head, ...new Array<bigint>(missing).fill(0n), ...tail];
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}

/** Groups of 16 bits; the last may be written as an IPv4 address. */
function parseGroups(text: string): bigint[] | null {
  if (text === '') return [];
  const groups: bigint[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    const ipv4 = index === parts.length - 1 ? parseIpv4(part) : null;
    if (ipv4 !== null) groups.push(ipv4 >> 16n, ipv4 & 0xffffn);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`));
    else return null;
  }
  return groups;
}

/** Where IP addresses lead. No part of Node or of the browser is used: the helper and the extension share this table. */

/** From the machine itself outwards (Local Network Access, section 2.1). */
const ADDRESS_SPACES = ['loopback', 'local', 'public'] as const;
export type AddressSpace = (typeof ADDRESS_SPACES)[number];

/** A block of addresses. `space` is where they lead; `embeddedAt` the lowest bit of the IPv4 address in each that decides instead. */
type Block = { cidr: string } & ({ space: AddressSpace } | { embeddedAt: number });

/**
 * The IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), with what is not unicast and what IANA has not
 * allocated: public is what is globally reachable. The longest prefix decides; IPv4 addresses outside of all blocks are public.
 */
const BLOCKS: readonly Block[] = [
  // RFC 1122, section 3.2.1.3: this host; systems connect it to themselves
  { cidr: '0.0.0.0/8', space: 'loopback' },
  // RFC 1122, section 3.2.1.3: loopback
  { cidr: '127.0.0.0/8', space: 'loopback' },
  // RFC 1918, section 3: private networks
  { cidr: '10.0.0.0/8', space: 'local' },
  { cidr: '172.16.0.0/12', space: 'local' },
  { cidr: '192.168.0.0/16', space: 'local' },
  // RFC 3927, section 2.1: link-local
  { cidr: '169.254.0.0/16', space: 'local' },
  // RFC 6598, section 7: carrier-grade NAT, and overlay networks on the machine
  { cidr: '100.64.0.0/10', space: 'local' },
  // RFC 6890, section 2.1: IETF protocol assignments
  { cidr: '192.0.0.0/24', space: 'local' },
  // RFC 7723, section 4.1: PCP anycast
  { cidr: '192.0.0.9/32', space: 'public' },
  // RFC 8155, section 8.1: TURN anycast
  { cidr: '192.0.0.10/32', space: 'public' },
  // RFC 5737, section 3: documentation
  { cidr: '192.0.2.0/24', space: 'local' },
  { cidr: '198.51.100.0/24', space: 'local' },
  { cidr: '203.0.113.0/24', space: 'local' },
  // RFC 7526, section 7: former 6to4 relay anycast
  { cidr: '192.88.99.0/24', space: 'local' },
  // RFC 2544, appendix C.2.2: benchmarks, and local proxies that answer for names
  { cidr: '198.18.0.0/15', space: 'local' },
  // RFC 5771, section 3: multicast
  { cidr: '224.0.0.0/4', space: 'local' },
  // RFC 1112, section 4, and RFC 919: reserved, broadcast
  { cidr: '240.0.0.0/4', space: 'local' },

  // IANA IPv6 Address Space: reserved or unassigned
  { cidr: '::/0', space: 'local' },
  // IANA IPv6 Address Space, RFC 4291: global unicast
  { cidr: '2000::/3', space: 'public' },
  // RFC 4291, sections 2.5.2 and 2.5.3: unspecified, loopback
  { cidr: '::/127', space: 'loopback' },
  // RFC 4291, section 2.5.5.1: IPv4-compatible
  { cidr: '::/96', embeddedAt: 0 },
  // RFC 4291, section 2.5.5.2: IPv4-mapped
  { cidr: '::ffff:0:0/96', embeddedAt: 0 },
  // RFC 6052, section 2.1: NAT64, well-known prefix
  { cidr: '64:ff9b::/96', embeddedAt: 0 },
  // RFC 8215, section 3: NAT64 for local use
  { cidr: '64:ff9b:1::/48', space: 'local' },
  // RFC 6666, section 4: discard-only
  { cidr: '100::/64', space: 'local' },
  // RFC 9780, section 6: dummy prefix
  { cidr: '100:0:0:1::/64', space: 'local' },
  // RFC 2928: IETF protocol assignments
  { cidr: '2001::/23', space: 'local' },
  // RFC 4380, section 2.6: Teredo
  { cidr: '2001::/32', space: 'local' },
  // RFC 7723, section 4.2: PCP anycast
  { cidr: '2001:1::1/128', space: 'public' },
  // RFC 8155, section 8.2: TURN anycast
  { cidr: '2001:1::2/128', space: 'public' },
  // RFC 9665, section 10: SRP anycast of DNS-SD
  { cidr: '2001:1::3/128', space: 'public' },
  // RFC 5180, section 8: benchmarks
  { cidr: '2001:2::/48', space: 'local' },
  // RFC 7450, section 7: AMT
  { cidr: '2001:3::/32', space: 'public' },
  // RFC 7535, section 8: AS112
  { cidr: '2001:4:112::/48', space: 'public' },
  // RFC 4843, section 2: former ORCHID
  { cidr: '2001:10::/28', space: 'local' },
  // RFC 7343, section 6: ORCHIDv2
  { cidr: '2001:20::/28', space: 'public' },
  // RFC 9374, section 8: DRIP entity tags
  { cidr: '2001:30::/28', space: 'public' },
  // RFC 3849: documentation
  { cidr: '2001:db8::/32', space: 'local' },
  // RFC 3056, section 2: 6to4
  { cidr: '2002::/16', embeddedAt: 80 },
  // RFC 9637, section 4: documentation
  { cidr: '3fff::/20', space: 'local' },
  // RFC 9602, section 3: SRv6 segment identifiers
  { cidr: '5f00::/16', space: 'local' },
  // RFC 4193, section 3.1: unique local
  { cidr: 'fc00::/7', space: 'local' },
  // RFC 4291, section 2.5.6: link-local
  { cidr: 'fe80::/10', space: 'local' },
  // RFC 3879: former site-local
  { cidr: 'fec0::/10', space: 'local' },
  // RFC 4291, section 2.7: multicast
  { cidr: 'ff00::/8', space: 'local' },
];

const IPV4_BITS = 32;
const IPV6_BITS = 128;

/** An address as a number of `bits` bits. */
interface Address {
  value: bigint;
  bits: typeof IPV4_BITS | typeof IPV6_BITS;
}

const parseBlocks = () =>
  BLOCKS.map(({ cidr, ...block }) => {
    const [net = '', length] = cidr.split('/');
    const { value, bits } = parseAddress(net)!;
    const shift = BigInt(bits - Number(length));
    return { ...block, bits, length: Number(length), shift, prefix: value >> shift };
  }).sort((a, b) => b.length - a.length);

/** Longest prefix first; parsed for the first address, which the extension's worker sees only once a page has loaded. */
let prefixes: ReturnType<typeof parseBlocks> | null = null;

/**
 * The space of an IP address as text, with or without brackets and zone. Text that is no address counts as public.
 */
export function addressSpace(ip: string): AddressSpace {
  const address = parseAddress(ip);
  return address ? spaceOf(address) : 'public';
}

function spaceOf({ value, bits }: Address): AddressSpace {
  prefixes ??= parseBlocks();
  const block = prefixes.find((one) => one.bits === bits && value >> one.shift === one.prefix);
  if (!block) return 'public';
  if ('space' in block) return block.space;
  const embedded = BigInt.asUintN(IPV4_BITS, value >> BigInt(block.embeddedAt));
  return spaceOf({ value: embedded, bits: IPV4_BITS });
}

/** Whether a page from `page` may request resources in `target`: browsers let it reach outwards only. */
export function mayReach(page: AddressSpace, target: AddressSpace): boolean {
  return ADDRESS_SPACES.indexOf(target) >= ADDRESS_SPACES.indexOf(page);
}

/** Whether an address is not public, such as the machine's own: its path is not the path to the web. */
export function isLocalAddress(ip: string): boolean {
  return addressSpace(ip) !== 'public';
}

/** @returns null for text that is no address. */
function parseAddress(text: string): Address | null {
  const ip = text.replace(/^\[|\]$/g, '').split('%', 1)[0]!;
  if (!ip.includes(':')) {
    const value = parseIpv4(ip);
    return value === null ? null : { value, bits: IPV4_BITS };
  }
  const value = parseIpv6(ip);
  return value === null ? null : { value, bits: IPV6_BITS };
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

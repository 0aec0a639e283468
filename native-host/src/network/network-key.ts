/** A key by which the extension recognises a network, without learning what identifies it. */
import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { dataDirectory } from '../base/paths.ts';
import { type DefaultRoute, findIpv4Route, findIpv6Route } from './default-route.ts';

/** Characters of base64url: 132 bits. */
const KEY_LENGTH = 22;
const SECRET_BYTES = 32;
/** A neighbour's hardware address is known: `ATF_COM` (`linux/if_arp.h`). */
const COMPLETE = 0x2;
/** What Node reports for interfaces without a hardware address, such as tunnels: their neighbours have none either. */
const NO_HARDWARE = '00:00:00:00:00:00';
/** Octets of an IPv4 router's address, and groups of an IPv6 router's, that count: its /24, as TCP WISE clusters users, and its /48. */
const IPV4_OCTETS = 3;
const IPV6_GROUPS = 3;

/** What the kernel shows of the machine's network. */
interface KernelTables {
  /** Texts of `/proc/net/route`, `/proc/net/ipv6_route` and `/proc/net/arp`; '' where there is none. */
  routes: string;
  routes6: string;
  neighbours: string;
  /** Interfaces whose neighbours have no hardware address. */
  peerLinks: readonly string[];
}

/**
 * Keyed hash of what identifies the network that the machine is on: interface, the router's prefix and its hardware address, as
 * the routers of many homes have the same address.
 *
 * @param secret of this user's helper, so that the key means nothing elsewhere
 * @returns null without a default route, while the router's hardware address is not known, and on systems other than Linux
 * @throws the error of `node:fs` when there is no secret and none can be written
 */
export function identifyNetwork(
  tables: KernelTables = readTables(),
  secret: () => Buffer = readSecret,
): string | null {
  const route = findIpv4Route(tables.routes) ?? findIpv6Route(tables.routes6);
  if (route === null) return null;
  const router = describeRouter(route, tables);
  if (router === null) return null;
  const hash = createHmac('sha256', secret()).update(JSON.stringify([route.interface, ...router]));
  return hash.digest('base64url').slice(0, KEY_LENGTH);
}

function describeRouter(
  { interface: name, gateway }: DefaultRoute,
  { neighbours, peerLinks }: KernelTables,
): string[] | null {
  if (gateway === null) return [];
  if (gateway.includes(':')) {
    // A router chooses its link-local address itself, mostly from its hardware address: the prefix is the same everywhere.
    return gateway.startsWith('fe80:') ? [gateway] : [gateway.split(':').slice(0, IPV6_GROUPS).join(':')];
  }
  const prefix = gateway.split('.').slice(0, IPV4_OCTETS).join('.');
  if (peerLinks.includes(name)) return [prefix];
  const hardware = findHardwareAddress(gateway, name, neighbours);
  return hardware === null ? null : [prefix, hardware];
}

/**
 * @param table text of `/proc/net/arp`
 * @returns null while it is not known
 */
function findHardwareAddress(address: string, name: string, table: string): string | null {
  const neighbours = table
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/));
  const own = neighbours.find(
    ([neighbour, , flags = '', , , device]) =>
      neighbour === address && device === name && (Number(flags) & COMPLETE) !== 0,
  );
  return own?.[3] ?? null;
}

function readTables(): KernelTables {
  return {
    routes: readTable('route'),
    routes6: readTable('ipv6_route'),
    neighbours: readTable('arp'),
    peerLinks: Object.entries(networkInterfaces())
      .filter(([, addresses]) => addresses?.every(({ mac }) => mac === NO_HARDWARE))
      .map(([name]) => name),
  };
}

function readTable(name: string): string {
  if (process.platform !== 'linux') return '';
  try {
    return readFileSync(`/proc/net/${name}`, 'utf8');
  } catch (fault) {
    // Kernels without IPv6 have no table of its routes.
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw fault;
  }
}

/** Random bytes that the first call writes; uninstalling removes them. @throws the error of `node:fs` */
function readSecret(): Buffer {
  const path = join(dataDirectory(), 'network-secret');
  const stored = readStored(path);
  if (stored !== null) return stored;
  mkdirSync(dirname(path), { recursive: true });
  // Another browser's helper may write it at the same time: the first one counts.
  try {
    writeFileSync(path, randomBytes(SECRET_BYTES), { mode: 0o600, flag: 'wx' });
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault;
  }
  return readStored(path) ?? replaceSecret(path);
}

/** @returns null when it is missing or was cut off */
function readStored(path: string): Buffer | null {
  try {
    const stored = readFileSync(path);
    return stored.length === SECRET_BYTES ? stored : null;
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fault;
  }
}

/** What networks have taught is then forgotten, as every network has another key. */
function replaceSecret(path: string): Buffer {
  const secret = randomBytes(SECRET_BYTES);
  writeFileSync(path, secret, { mode: 0o600 });
  return secret;
}

/** Local addresses of sockets, whether the machine still has them, and whether there are any. */
import { BlockList } from 'node:net';
import { networkInterfaces } from 'node:os';
import { cLibrary } from './c-library.ts';

/** `struct sockaddr_in6` (ipv6(7)), the larger one. */
const STRUCT_BYTES = 28;
/** Address families as Linux numbers them. */
const AF_INET = 2;
const AF_INET6 = 10;

/**
 * A function that returns false for a socket whose local address was taken from the machine, as when it changes to another
 * network: Linux leaves the TCP connections of such an address open. True where the address cannot be read.
 */
export function localAddressChecker(): (socket: number) => boolean {
  const read = addressReader();
  if (!read) return () => true;
  return (socket) => {
    const address = read(socket);
    return !address || machineAddresses().check(address.text, address.family);
  };
}

/**
 * A function that tells the network's sockets from others that libcurl has polled, such as that of its resolver's thread. True where that
 * cannot be read.
 */
export function networkSocketChecker(): (socket: number) => boolean {
  const read = addressReader();
  return read ? (socket) => read(socket) !== null : () => true;
}

/** A function that reads a socket's local address, null for what has none; null where there is no such function. */
function addressReader(): ((socket: number) => Address | null) | null {
  const getsockname = cLibrary()?.func('int getsockname(int socket, void *address, _Inout_ uint *length)');
  if (!getsockname) return null;
  const buffer = Buffer.alloc(STRUCT_BYTES);
  return (socket) => (getsockname(socket, buffer, [STRUCT_BYTES]) === 0 ? addressOf(buffer) : null);
}

interface Address {
  text: string;
  family: 'ipv4' | 'ipv6';
}

/** @returns null for sockets of other families. */
function addressOf(sockaddr: Buffer): Address | null {
  const bytes = new Uint8Array(sockaddr);
  switch (new Uint16Array(bytes.buffer, 0, 1)[0]) {
    case AF_INET:
      return { text: bytes.subarray(4, 8).join('.'), family: 'ipv4' };
    case AF_INET6: {
      const groups = Array.from({ length: 8 }, (_, at) => sockaddr.readUInt16BE(8 + 2 * at).toString(16));
      return { text: groups.join(':'), family: 'ipv6' };
    }
    default:
      return null;
  }
}

function machineAddresses(): BlockList {
  const addresses = new BlockList();
  addresses.addSubnet('127.0.0.0', 8, 'ipv4');
  for (const { address, family } of Object.values(networkInterfaces()).flatMap((all) => all ?? []))
    addresses.addAddress(address.replace(/%.*$/, ''), family === 'IPv4' ? 'ipv4' : 'ipv6');
  return addresses;
}

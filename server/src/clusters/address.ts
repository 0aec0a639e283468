/** IP addresses as bytes, and the prefixes that clients are clustered by. */
import { isIPv4, isIPv6 } from 'node:net';

/** A prefix in the form that `ip route` takes. */
export interface Prefix {
  bytes: readonly number[];
  bits: number;
}

/** Prefix lengths of clusters: TCP WISE's /24 and what IPv6 sites get, and the wider ones of networks. */
const NARROW_BITS = { 4: 24, 16: 48 } as const;
const WIDE_BITS = { 4: 16, 16: 32 } as const;

/**
 * Reads an IP address; one of IPv4 within IPv6 counts as IPv4.
 *
 * @returns 4 or 16 bytes, null for anything else
 */
export function parseAddress(text: string): readonly number[] | null {
  if (isIPv4(text)) return text.split('.').map(Number);
  if (!isIPv6(text) || text.includes('%')) return null;
  const [head = '', tail] = text.split('::');
  const [front, back] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = tail === undefined ? [] : new Array<number>(8 - front.length - back.length).fill(0);
  const bytes = [...front, ...zeros, ...back].flatMap((group) => [group >> 8, group & 0xff]);
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? bytes.slice(12) : bytes;
}

function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a, b, c, d] = group.split('.').map(Number);
    return [a! * 256 + b!, c! * 256 + d!];
  });
}

/** Whether clients on other machines can have it: neither unspecified, of this host, of this link alone, nor multicast. */
export function isClientAddress(bytes: readonly number[]): boolean {
  const [first = 0, second = 0] = bytes;
  if (bytes.length === 4)
    return first !== 0 && first !== 127 && first < 224 && !(first === 169 && second === 254);
  return first !== 0 && first !== 0xff && !(first === 0xfe && (second & 0xc0) === 0x80);
}

export function narrowPrefix(address: readonly number[]): Prefix {
  return maskTo(address, NARROW_BITS[address.length as 4 | 16]);
}

export function widePrefix(address: readonly number[]): Prefix {
  return maskTo(address, WIDE_BITS[address.length as 4 | 16]);
}

function maskTo(address: readonly number[], bits: number): Prefix {
  return { bytes: address.map((byte, index) => (index < bits / 8 ? byte : 0)), bits };
}

/** Reads `10.0.0.0/8`, an address alone, and `default`. @param family of `default` */
export function parsePrefix(text: string, family: 4 | 6): Prefix | null {
  if (text === 'default') return { bytes: new Array<number>(family === 4 ? 4 : 16).fill(0), bits: 0 };
  const [, address = '', length] = /^([^/]+)(?:\/(\d+))?$/.exec(text) ?? [];
  const bytes = parseAddress(address);
  if (bytes === null) return null;
  return { bytes, bits: length === undefined ? 8 * bytes.length : Number(length) };
}

/** Whether every address of `inner` is in `outer`. */
export function contains(outer: Prefix, inner: Prefix): boolean {
  if (outer.bytes.length !== inner.bytes.length || outer.bits > inner.bits) return false;
  return outer.bytes.every((byte, index) => {
    const bits = Math.min(8, Math.max(0, outer.bits - 8 * index));
    const mask = (0xff << (8 - bits)) & 0xff;
    return (byte & mask) === (inner.bytes[index]! & mask);
  });
}

export function formatPrefix({ bytes, bits }: Prefix): string {
  if (bytes.length === 4) return `${bytes.join('.')}/${bits}`;
  const groups = Array.from({ length: 8 }, (_, index) => bytes[2 * index]! * 256 + bytes[2 * index + 1]!);
  const used = groups.slice(0, Math.ceil(bits / 16)).map((group) => group.toString(16));
  return used.length === 8 ? `${used.join(':')}/${bits}` : `${used.join(':')}::/${bits}`;
}

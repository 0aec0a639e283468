import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

/** Prefix lengths of clusters: TCP WISE's /24 and what IPv6 sites get, and the wider ones of networks. */
const BITS = { ipv4: { narrow: 24, wide: 16 }, ipv6: { narrow: 48, wide: 32 } } as const;
/** Ranges in which no address is that of a client on another machine. */
const NO_CLIENTS: readonly string[] = ['unspecified', 'loopback', 'linkLocal', 'multicast', 'broadcast'];

/** A client's place among the clusters. Names are keyed hashes; the prefixes are kept only as long as they may get a route. */
export interface ClusteredClient {
  /** Name of the client itself. */
  name: string;
  narrow: string;
  wide: string;
  /** As in `203.0.113.0/24`. */
  narrowPrefix: string;
  widePrefix: string;
}

/** How many addresses' hashes are kept: those of the last ones. */
const MAX_CACHED = 10_000;

/** Names clients and clusters by keyed hashes, so that what is stored holds no address. */
export class ClusterNames {
  readonly #key: Buffer;
  readonly #clients = new LRUCache<string, ClusteredClient>({ max: MAX_CACHED });

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** @returns null for what is no address of a client */
  find(text: string): ClusteredClient | null {
    const known = this.#clients.get(text);
    if (known !== undefined) return known;
    // A zone may follow an address of IPv6, of any length: neither nginx nor the kernel writes one of a client.
    if (isIP(text) === 0 || text.includes('%')) return null;
    // One of IPv4 within IPv6 counts as IPv4.
    const address = ipaddr.process(text);
    if (NO_CLIENTS.includes(address.range())) return null;
    const prefix = (bits: number): string =>
      `${ipaddr[address.kind() === 'ipv4' ? 'IPv4' : 'IPv6'].networkAddressFromCIDR(`${address}/${bits}`)}/${bits}`;
    const { narrow, wide } = BITS[address.kind()];
    const [narrowPrefix, widePrefix] = [prefix(narrow), prefix(wide)];
    const client = {
      name: this.#hash(address.toString()),
      narrow: this.#hash(narrowPrefix),
      wide: this.#hash(widePrefix),
      narrowPrefix,
      widePrefix,
    };
    this.#clients.set(text, client);
    return client;
  }

  /** 72 bits: no two of the clusters that are kept at once share them. */
  #hash(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url').slice(0, 12);
  }
}

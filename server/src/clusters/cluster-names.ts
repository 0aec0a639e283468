import { createHmac } from 'node:crypto';
import { RecentMap } from '../util/recent-map.ts';
import {
  formatPrefix,
  isClientAddress,
  narrowPrefix,
  type Prefix,
  parseAddress,
  widePrefix,
} from './address.ts';

/** A client's place among the clusters. Names are keyed hashes; the prefixes are kept only as long as they may get a route. */
export interface ClusteredClient {
  /** Name of the client itself. */
  name: string;
  narrow: string;
  wide: string;
  narrowPrefix: Prefix;
  widePrefix: Prefix;
}

/** Hashes are kept for the last so many addresses and prefixes. */
const MAX_CACHED = 10_000;

/** Names clients and clusters by keyed hashes, so that what is stored holds no address. */
export class ClusterNames {
  readonly #key: Buffer;
  readonly #clients = new RecentMap<ClusteredClient | null>(MAX_CACHED);

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** @returns null for what is no address of a client */
  find(address: string): ClusteredClient | null {
    let client = this.#clients.get(address);
    if (client === undefined) {
      client = this.#name(address);
      this.#clients.set(address, client);
    }
    return client;
  }

  #name(address: string): ClusteredClient | null {
    const bytes = parseAddress(address);
    if (bytes === null || !isClientAddress(bytes)) return null;
    const [narrow, wide] = [narrowPrefix(bytes), widePrefix(bytes)];
    return {
      name: this.#hash(bytes.join('.')),
      narrow: this.#hash(formatPrefix(narrow)),
      wide: this.#hash(formatPrefix(wide)),
      narrowPrefix: narrow,
      widePrefix: wide,
    };
  }

  /** 72 bits: no two of the clusters that are kept at once share them. */
  #hash(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url').slice(0, 12);
  }
}

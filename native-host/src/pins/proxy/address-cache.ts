import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';

export type Lookup = (host: string) => Promise<LookupAddress[]>;

/**
 * How long addresses are kept. The system's resolver does not tell their time to live, and many a system asks its
 * name server anew each time; Chromium keeps what this resolver says for a minute too, so that a tunnel's second
 * connection waits for no more round trips than a direct one.
 */
const KEPT_MS = 60_000;

/** The order of RFC 6724, as the system's resolver gives it. */
const systemLookup: Lookup = (host) => lookup(host, { all: true, order: 'verbatim' });

/** The system's addresses of hosts; questions for one host at the same time are one. */
export class AddressCache {
  readonly #lookup: Lookup;
  readonly #keptMs: number;
  readonly #entries = new Map<string, Promise<LookupAddress[]>>();

  constructor(look: Lookup = systemLookup, keptMs = KEPT_MS) {
    this.#lookup = look;
    this.#keptMs = keptMs;
  }

  addresses(host: string): Promise<LookupAddress[]> {
    const kept = this.#entries.get(host);
    if (kept) return kept;
    const asked = this.#lookup(host);
    this.#entries.set(host, asked);
    const forget = (): void => this.#forget(host, asked);
    asked.then(() => setTimeout(forget, this.#keptMs).unref(), forget);
    return asked;
  }

  /** For addresses that did not answer: the host may have moved. */
  forget(host: string): void {
    this.#entries.delete(host);
  }

  #forget(host: string, asked: Promise<LookupAddress[]>): void {
    if (this.#entries.get(host) === asked) this.#entries.delete(host);
  }
}

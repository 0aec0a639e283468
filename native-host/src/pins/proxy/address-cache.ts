import type { LookupAddress } from 'node:dns';
import { type Lookup, lookUp } from '../../dns/lookup.ts';

/**
 * How long addresses are cached. The system's resolver does not report their time to live, and many systems query their name
 * server each time. Chromium also caches this resolver's answers for a minute, so that further connections of a tunnel need no
 * more round trips than direct ones.
 */
const KEPT_MS = 60_000;

/** Caches the addresses of hosts; concurrent lookups of one host share a query. */
export class AddressCache {
  readonly #lookup: Lookup;
  readonly #keptMs: number;
  readonly #entries = new Map<string, Promise<LookupAddress[]>>();

  constructor(look: Lookup = lookUp, keptMs = KEPT_MS) {
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

  /** For addresses that did not answer: the host's addresses may have changed. */
  forget(host: string): void {
    this.#entries.delete(host);
  }

  #forget(host: string, asked: Promise<LookupAddress[]>): void {
    if (this.#entries.get(host) === asked) this.#entries.delete(host);
  }
}

import type { LookupAddress } from 'node:dns';
import { type Lookup, lookUp } from '../../dns/lookup.ts';
import { unlessAborted } from './connect-permitted.ts';
import { NameLookups, type PendingLookup } from './name-lookups.ts';

/**
 * How long addresses are cached. The system's resolver does not report their time to live, and many systems query their name
 * server each time. Chromium also caches this resolver's answers for a minute, so that further connections of a tunnel need no
 * more round trips than direct ones.
 */
const KEPT_MS = 60_000;

interface Entry {
  lookup: PendingLookup;
  /** Connections that wait for the addresses. */
  waiting: number;
  isKnown: boolean;
}

/** Caches the addresses of hosts; concurrent lookups of one host share a query. */
export class AddressCache {
  readonly #lookups: NameLookups;
  readonly #keptMs: number;
  readonly #entries = new Map<string, Entry>();

  constructor(look: Lookup = lookUp, keptMs = KEPT_MS) {
    this.#lookups = new NameLookups(look);
    this.#keptMs = keptMs;
  }

  /** @throws the error of the lookup; the signal's reason */
  async addresses(host: string, signal: AbortSignal): Promise<LookupAddress[]> {
    const entry = this.#entries.get(host) ?? this.#ask(host);
    entry.waiting += 1;
    try {
      return await unlessAborted(entry.lookup.addresses, signal);
    } finally {
      entry.waiting -= 1;
      if (entry.waiting === 0 && entry.lookup.drop()) this.#forget(host, entry);
    }
  }

  /** For addresses that did not answer: the host's addresses may have changed. */
  forget(host: string): void {
    // One lookup that is under way is enough, whatever became of the connection that it was for.
    if (this.#entries.get(host)?.isKnown) this.#entries.delete(host);
  }

  #ask(host: string): Entry {
    const entry: Entry = { lookup: this.#lookups.begin(host), waiting: 0, isKnown: false };
    this.#entries.set(host, entry);
    const forget = (): void => this.#forget(host, entry);
    entry.lookup.addresses.then(() => {
      entry.isKnown = true;
      setTimeout(forget, this.#keptMs).unref();
    }, forget);
    return entry;
  }

  #forget(host: string, entry: Entry): void {
    if (this.#entries.get(host) === entry) this.#entries.delete(host);
  }
}

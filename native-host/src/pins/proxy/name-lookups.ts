/** The look-ups of names for connections: not all at once, and no site's before those of all others. */
import type { LookupAddress } from 'node:dns';
import type { Lookup } from '../../dns/lookup.ts';

/** As many as the system's resolver works on at once, see `allowConcurrentLookups`. */
const MAX_AT_ONCE = 32;
/** Look-ups of one site under way or waiting. A page has far fewer names of one site that are not known yet, unless it makes them up. */
const MAX_OF_SITE = 24;

export interface PendingLookup {
  /** Rejects where too many of its site are pending. */
  addresses: Promise<LookupAddress[]>;
  /** Gives it up, as nothing waits for it any more. @returns false when it is under way, as the system's resolver cannot be stopped */
  drop(): boolean;
}

/** The turn of a look-up that waits. */
interface Turn {
  host: string;
  begin(): void;
  drop(): void;
}

/**
 * The system's resolver takes ten seconds and more for a name that no server answers: without limits a page that makes up names would hold up
 * the pages of all other sites, even after it is closed.
 */
export class NameLookups {
  readonly #look: Lookup;
  /** Hosts of those under way. */
  readonly #running: string[] = [];
  /** The oldest first. */
  readonly #waiting: Turn[] = [];
  /** Loaded where it is first needed, with the list of public suffixes. */
  #siteKey: ((url: string) => string) | null = null;

  constructor(look: Lookup) {
    this.#look = look;
  }

  begin(host: string): PendingLookup {
    const own: Turn = { host, begin: () => {}, drop: () => {} };
    const turn = new Promise<void>((resolve, reject) => {
      own.begin = resolve;
      own.drop = () => reject(new Error('nothing waits for its address'));
    });
    const drop = (): boolean => {
      const at = this.#waiting.indexOf(own);
      if (at < 0) return false;
      this.#waiting.splice(at, 1);
      own.drop();
      return true;
    };
    return { addresses: this.#lookUp(own, turn), drop };
  }

  async #lookUp(own: Turn, turn: Promise<void>): Promise<LookupAddress[]> {
    if (this.#running.length + this.#waiting.length >= MAX_OF_SITE) {
      this.#siteKey ??= (await import('@hopwise/pageload-emulator/site')).siteKey;
      this.#refuseMany(own.host, this.#siteKey);
    }
    this.#waiting.push(own);
    this.#advance();
    await turn;
    try {
      return await this.#look(own.host);
    } finally {
      this.#running.splice(this.#running.indexOf(own.host), 1);
      this.#advance();
    }
  }

  /** @throws Error */
  #refuseMany(host: string, siteKey: (url: string) => string): void {
    const siteOf = (each: string) => siteKey(`https://${each}/`);
    const pending = [...this.#running, ...this.#waiting.map((turn) => turn.host)];
    const site = siteOf(host);
    if (pending.filter((each) => siteOf(each) === site).length >= MAX_OF_SITE)
      throw new Error(`${MAX_OF_SITE} names of its site are being looked up`);
  }

  #advance(): void {
    while (this.#running.length < MAX_AT_ONCE && this.#waiting.length > 0) {
      const next = this.#waiting.shift()!;
      this.#running.push(next.host);
      next.begin();
    }
  }
}

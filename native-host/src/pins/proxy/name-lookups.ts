/** The look-ups of names for connections: not all at once, and no site's before those of all others. */
import type { LookupAddress } from 'node:dns';
import type { Lookup } from '../../dns/lookup.ts';

/** Look-ups that run at once: as many as the system's resolver works on (`allowConcurrentLookups`). */
const MAX_AT_ONCE = 32;
/** How many times as many look-ups as are free a site may have under way: 24 where it is the only one, as pages with many hosts need. */
const OF_FREE = 3;
/** The number of look-ups under way from which on it matters whose they are. */
const MANY = (MAX_AT_ONCE * OF_FREE) / (OF_FREE + 1);

export interface PendingLookup {
  addresses: Promise<LookupAddress[]>;
  /** Gives it up, as nothing waits for it any more. @returns false when it is under way, as the system's resolver cannot be stopped */
  drop(): boolean;
}

/** The turn of a look-up. */
interface Turn {
  host: string;
  /** Its site, once it was needed. */
  site: string | null;
  begin(): void;
  drop(): void;
}

/**
 * The system's resolver takes ten seconds and more for a name that no server answers: without limits a page that makes up names would hold up
 * the pages of all other sites, even after it is closed. So how many a site may have under way depends on how many are free (dynamic thresholds; Choudhury
 * and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998). Its others wait, and those of other sites go before them.
 */
export class NameLookups {
  readonly #look: Lookup;
  readonly #running = new Set<Turn>();
  /** The oldest first. */
  readonly #waiting = new Set<Turn>();
  /** Loaded where it is first needed, with the list of public suffixes. */
  #siteKey: ((url: string) => string) | null = null;

  constructor(look: Lookup) {
    this.#look = look;
  }

  begin(host: string): PendingLookup {
    const own: Turn = { host, site: null, begin: () => {}, drop: () => {} };
    const turn = new Promise<void>((resolve, reject) => {
      own.begin = resolve;
      own.drop = () => reject(new Error('nothing waits for its address'));
    });
    const drop = (): boolean => {
      if (!this.#waiting.delete(own)) return false;
      own.drop();
      return true;
    };
    return { addresses: this.#lookUp(own, turn), drop };
  }

  async #lookUp(own: Turn, turn: Promise<void>): Promise<LookupAddress[]> {
    this.#waiting.add(own);
    if (this.#running.size >= MANY)
      this.#siteKey ??= (await import('@hopwise/pageload-emulator/site')).siteKey;
    this.#advance();
    await turn;
    try {
      return await this.#look(own.host);
    } finally {
      this.#running.delete(own);
      this.#advance();
    }
  }

  #advance(): void {
    const counts = this.#countRunning();
    for (const turn of this.#waiting) {
      const free = MAX_AT_ONCE - this.#running.size;
      if (free === 0) return;
      const site = this.#siteOf(turn);
      const count = counts.get(site) ?? 0;
      if (count >= OF_FREE * free) continue;
      counts.set(site, count + 1);
      this.#waiting.delete(turn);
      this.#running.add(turn);
      turn.begin();
    }
  }

  /** Counts the look-ups under way by site. */
  #countRunning(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const turn of this.#running) {
      const site = this.#siteOf(turn);
      counts.set(site, (counts.get(site) ?? 0) + 1);
    }
    return counts;
  }

  /** The host's site; the host itself as long as so few look-ups are under way that it does not matter. */
  #siteOf(turn: Turn): string {
    if (this.#siteKey === null) return turn.host;
    turn.site ??= this.#siteKey(`https://${turn.host}/`);
    return turn.site;
  }
}

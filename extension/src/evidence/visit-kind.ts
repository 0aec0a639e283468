import { EVERY_ORIGIN } from '@hopwise/contract';
import { factsOf, type KnownLoad, listResponses } from '../load/load-summary.ts';

/**
 * `first`: the browser met the page's servers over TCP, because it did not know yet that they offer HTTP/3. `later`: it used what it
 * uses from then on. A first visit may take a tenth of the time of all later ones, or ten times as long.
 */
type VisitKind = 'first' | 'later';

/** Tells first visits from later ones by what the loads on one network show together. */
export class Visits {
  readonly #loads: readonly KnownLoad[];
  /** Origins that were used over HTTP/3 on this network. */
  readonly #overH3: ReadonlySet<string>;

  /** @param loads all that are known on one network, of any page */
  constructor(loads: readonly KnownLoad[]) {
    this.#loads = loads;
    this.#overH3 = new Set(
      loads
        .flatMap(listResponses)
        .filter(({ protocol }) => protocol === 'h3')
        .map(({ origin }) => origin),
    );
  }

  /** Whether a response of an origin came over HTTP/3 in any of the loads. */
  isOverH3(origin: string): boolean {
    return this.#overH3.has(origin);
  }

  /** The later visits among loads. */
  selectLater<L extends KnownLoad>(loads: readonly L[]): L[] {
    return loads.filter((load) => this.judge(load) === 'later');
  }

  judge(load: KnownLoad): VisitKind {
    return this.#judgeByProtocols(load) ?? (this.#showsNothingNew(load) ? 'later' : 'first');
  }

  /**
   * By the protocols of requests to origins that are used over HTTP/3 on this network: those of the first half, as a first visit may go
   * on over HTTP/3, and most of them, as a TCP connection sometimes wins the race in later visits, and pages have new servers in every load.
   * Null where there are none.
   */
  #judgeByProtocols(load: KnownLoad): VisitKind | null {
    const isPinned = (origin: string) =>
      [origin, EVERY_ORIGIN].some((one) => load.pinned?.[one] !== undefined);
    const asked = listResponses(load).filter(({ origin }) => this.#overH3.has(origin) && !isPinned(origin));
    const early = asked.slice(0, Math.ceil(asked.length / 2));
    if (early.length === 0) return null;
    const overH3 = early.filter(({ protocol }) => protocol === 'h3');
    return overH3.length > early.length / 2 ? 'later' : 'first';
  }

  /**
   * Whether the next visits would use the protocols that a load without HTTP/3 used: no server offered more, the site had been visited
   * before, or was visited again without HTTP/3.
   */
  #showsNothingNew(load: KnownLoad): boolean {
    if (factsOf(load).offersNoH3) return true;
    const origin = siteOf(load);
    return this.#loads.some(
      (other) => siteOf(other) === origin && (other.id < load.id || (other.id > load.id && isFree(other))),
    );
  }
}

const siteOf = ({ recording }: KnownLoad): string => new URL(recording.url).origin;
const isFree = ({ pinned }: KnownLoad): boolean => pinned != null && Object.keys(pinned).length === 0;

import { EVERY_ORIGIN, type RecordedRequest } from '@hopwise/contract';
import type { StoredLoad } from '../storage/loads.ts';

/**
 * `first`: the browser met the page's servers over TCP, because it did not know yet that they offer HTTP/3. `later`: it used what it
 * uses from then on. A first visit may take a tenth of the time of all later ones, or ten times as long.
 */
export type VisitKind = 'first' | 'later';

/** Tells first visits from later ones by what the loads on one network show together. */
export class Visits {
  readonly #loads: readonly StoredLoad[];
  /** Origins that were used over HTTP/3 on this network. */
  readonly #overH3: ReadonlySet<string>;

  /** @param loads all that are known on one network, of any page */
  constructor(loads: readonly StoredLoad[]) {
    this.#loads = loads;
    this.#overH3 = new Set(
      loads
        .flatMap(({ recording }) => recording.requests)
        .filter(({ protocol }) => protocol === 'h3')
        .map(originOf),
    );
  }

  /** The later visits among loads. */
  selectLater(loads: readonly StoredLoad[]): StoredLoad[] {
    return loads.filter((load) => this.judge(load) === 'later');
  }

  judge(load: StoredLoad): VisitKind {
    return this.#judgeByProtocols(load) ?? (this.#showsNothingNew(load) ? 'later' : 'first');
  }

  /**
   * By the protocols of requests to origins that are used over HTTP/3 on this network: those of the first half, as a first visit may go
   * on over HTTP/3, and most of them, as a TCP connection sometimes wins the race in later visits, and pages have new servers in every load.
   * Null where there are none.
   */
  #judgeByProtocols({ recording, pinned }: StoredLoad): VisitKind | null {
    const isPinned = (origin: string) => [origin, EVERY_ORIGIN].some((one) => pinned?.[one] !== undefined);
    const asked = recording.requests
      .filter(cameOverNetwork)
      .filter((request) => this.#overH3.has(originOf(request)) && !isPinned(originOf(request)))
      .sort((a, b) => a.startMs - b.startMs);
    const early = asked.slice(0, Math.ceil(asked.length / 2));
    if (early.length === 0) return null;
    const overH3 = early.filter(({ protocol }) => protocol === 'h3');
    return overH3.length > early.length / 2 ? 'later' : 'first';
  }

  /**
   * Whether the next visits would use the protocols that a load without HTTP/3 used: no server offered more, the site had been visited
   * before, or was visited again without HTTP/3.
   */
  #showsNothingNew(load: StoredLoad): boolean {
    if (load.recording.requests.filter(cameOverNetwork).every(offersNoH3)) return true;
    const origin = siteOf(load);
    return this.#loads.some(
      (other) => siteOf(other) === origin && (other.id < load.id || (other.id > load.id && isFree(other))),
    );
  }
}

const originOf = ({ url }: RecordedRequest): string => new URL(url).origin;
const siteOf = ({ recording }: StoredLoad): string => new URL(recording.url).origin;
const isFree = ({ pinned }: StoredLoad): boolean => pinned != null && Object.keys(pinned).length === 0;

const cameOverNetwork = ({ fromCache, protocol }: RecordedRequest): boolean =>
  !fromCache && protocol !== null;

/** Browsers use HTTP/3 for https origins only. */
const offersNoH3 = ({ url, offersH3, protocol }: RecordedRequest): boolean =>
  (offersH3 === false || url.startsWith('http:')) && protocol !== 'h3';

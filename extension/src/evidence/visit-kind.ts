import type { RecordedRequest } from '@hopwise/contract';
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
   * By the protocol with which the load met each origin that is used over HTTP/3 on this network. Most requests decide: pages request
   * something from new servers in every load. Null where there are none.
   */
  #judgeByProtocols({ recording, pinned }: StoredLoad): VisitKind | null {
    const metOver = new Map<string, RecordedRequest['protocol']>();
    let balance = 0;
    let seen = 0;
    for (const request of recording.requests.filter(cameOverNetwork)) {
      const origin = originOf(request);
      if (!this.#overH3.has(origin) || pinned?.[origin] !== undefined) continue;
      if (!metOver.has(origin)) metOver.set(origin, request.protocol);
      balance += metOver.get(origin) === 'h3' ? 1 : -1;
      seen++;
    }
    if (seen === 0) return null;
    return balance >= 0 ? 'later' : 'first';
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

/** Loads of other pages that a browser made on the same network before the one that is predicted from. */
import type { GroundTruthLoad } from '@hopwise/lab/ground-truth/ground-truth';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';

/** As many as a few minutes of browsing bring. */
export const EARLIER_LOADS = 3;
/** Without natural loads: over TCP at first, and over HTTP/3 once a browser has been offered it. HTTP/1.1 it does not use where there is HTTP/2. */
const FORCED: readonly ProtocolMode[] = ['h2', 'h3', 'h3'];

/** Recorded loads to learn networks from: of each page, network and protocol the one of the least seed. */
export class EarlierLoads {
  readonly #loads = new Map<string, GroundTruthLoad>();
  /** Names of pages by network. */
  readonly #pages = new Map<string, Set<string>>();

  /** Keeps a cold load if it is recorded whole, undisturbed, and of less a seed than what was kept. */
  add(load: GroundTruthLoad): void {
    const { page, network, protocol, view, seed, disturbed, outcome } = load;
    if (view !== 'cold' || disturbed || !outcome.ok || !outcome.proved) return;
    if (outcome.recording.requests?.length === 0) return;
    const key = keyOf(page, network, protocol);
    const kept = this.#loads.get(key);
    if (kept !== undefined && kept.seed < seed) return;
    this.#loads.set(key, load);
    this.#pages.set(network, (this.#pages.get(network) ?? new Set()).add(page));
  }

  /**
   * Loads before one of `page`: up to `EARLIER_LOADS`, of as many other pages, those that follow it by name and after the last one
   * from the first on. Natural ones; where none was recorded on the network, forced ones as `FORCED` has them.
   */
  before(page: string, network: string): GroundTruthLoad[] {
    const others = [...(this.#pages.get(network) ?? [])].filter((name) => name !== page).sort();
    const next = others.findIndex((name) => name > page);
    const inTurn = next < 0 ? others : [...others.slice(next), ...others.slice(0, next)];
    const under = (name: string, protocol: ProtocolMode) => this.#loads.get(keyOf(name, network, protocol));
    const natural = inTurn.flatMap((name) => under(name, 'natural') ?? []);
    if (natural.length > 0) return natural.slice(0, EARLIER_LOADS);
    const forced: GroundTruthLoad[] = [];
    for (const name of inTurn) {
      const protocol = FORCED[forced.length];
      const load = protocol && under(name, protocol);
      if (load) forced.push(load);
    }
    return forced;
  }
}

const keyOf = (...parts: string[]): string => JSON.stringify(parts);

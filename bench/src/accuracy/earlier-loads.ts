/** Selects earlier loads of other pages on the same network, as a browser would have made before. */
import type { GroundTruthLoad } from '@hopwise/lab/ground-truth/ground-truth';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';

/** The number of loads in a few minutes of browsing. */
export const EARLIER_LOADS = 3;
/**
 * Used without natural loads: first TCP, then HTTP/3 after it has been offered. Browsers do not use HTTP/1.1 where HTTP/2 is
 * offered.
 */
const FORCED: readonly ProtocolMode[] = ['h2', 'h3', 'h3'];

/** Recorded loads to learn networks from: for each page, network and protocol the one with the lowest seed. */
export class EarlierLoads {
  readonly #loads = new Map<string, GroundTruthLoad>();
  /** Page names by network. */
  readonly #pages = new Map<string, Set<string>>();

  /** Keeps a cold load if it is undisturbed, has a full recording, and has a lower seed than the kept one. */
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
   * Up to `EARLIER_LOADS` loads before one of `page`, each of another page: the pages that follow it in order of name, wrapping
   * around. Natural loads; where none was recorded on the network, forced ones in the order of `FORCED`.
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

/** Which loads a matrix has, and in which order they are made. */
import type { GroundTruthLoad, LoadProtocol, View } from './ground-truth.ts';

/** One load of the matrix. */
export interface PlannedLoad {
  page: string;
  network: string;
  protocol: LoadProtocol;
  view: View;
  seed: number;
}

export interface MatrixAxes {
  pages: string[];
  networks: string[];
  protocols: LoadProtocol[];
  views: View[];
  seeds: number[];
}

/**
 * Page by page, within it network by network, within it seed by seed. The protocols of a seed take turns in an order
 * that shifts by one from seed to seed, so that what drifts on the machine meets all of them alike. `assigned` comes
 * after `natural`, from whose recording the assignment may be made.
 */
export function planLoads({ pages, networks, protocols, views, seeds }: MatrixAxes): PlannedLoad[] {
  return pages.flatMap((page) =>
    networks.flatMap((network) =>
      seeds.flatMap((seed, round) =>
        naturalFirst(rotate(protocols, round)).flatMap((protocol) =>
          views.map((view): PlannedLoad => ({ page, network, protocol, view, seed })),
        ),
      ),
    ),
  );
}

function rotate<T>(values: readonly T[], by: number): T[] {
  const shift = by % Math.max(1, values.length);
  return [...values.slice(shift), ...values.slice(0, shift)];
}

function naturalFirst(protocols: LoadProtocol[]): LoadProtocol[] {
  const natural = protocols.indexOf('natural');
  const assigned = protocols.indexOf('assigned');
  if (natural < 0 || assigned < 0 || natural < assigned) return protocols;
  return protocols.flatMap((protocol) => {
    if (protocol === 'assigned') return [];
    return protocol === 'natural' ? ['natural', 'assigned'] : [protocol];
  });
}

const loadKey = (load: PlannedLoad): string =>
  JSON.stringify([load.page, load.network, load.protocol, load.view, load.seed]);
const seriesKey = (load: PlannedLoad): string =>
  JSON.stringify([load.page, load.network, load.protocol, load.view]);

/** What is done: by its loads, and by series whose protocol cannot reach the page at all. */
export class Done {
  readonly #loads = new Set<string>();
  readonly #reached = new Set<string>();
  readonly #unreachable = new Set<string>();

  add(load: PlannedLoad & Pick<GroundTruthLoad, 'outcome'>): void {
    this.#loads.add(loadKey(load));
    if (load.outcome.ok) this.#reached.add(seriesKey(load));
    else if (load.outcome.kind === 'unreachable') this.#unreachable.add(seriesKey(load));
  }

  has(load: PlannedLoad): boolean {
    return this.#loads.has(loadKey(load)) || this.isUnreachable(load);
  }

  /** Whether loads of this protocol were tried in this cell and none ever got an answer. */
  isUnreachable(load: PlannedLoad): boolean {
    const series = seriesKey(load);
    return this.#unreachable.has(series) && !this.#reached.has(series);
  }
}

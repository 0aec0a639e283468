/** The loads of a matrix and their order. */
import type { GroundTruthLoad, LoadProtocol, View } from '../ground-truth/ground-truth.ts';
import { takeTurns } from '../loads/turns.ts';

/** One load of the matrix. */
export interface PlannedLoad {
  page: string;
  network: string;
  protocol: LoadProtocol;
  view: View;
  seed: number;
}

/** How each page is loaded on each network. */
interface CellAxes {
  protocols: LoadProtocol[];
  views: View[];
  seeds: number[];
}

interface MatrixAxes extends CellAxes {
  pages: string[];
  networks: string[];
}

/**
 * Page by page, within it network by network, within it seed by seed. The protocols of a seed take turns in an order that
 * changes from seed to seed and from cell to cell, so that drift of the machine and after-effects of a load affect all of them
 * alike. Under the first seed `assigned` comes after `natural`, whose recording may determine the assignment.
 */
export function planLoads({ pages, networks, ...axes }: MatrixAxes): PlannedLoad[] {
  return planCells(
    pages.flatMap((page) => networks.map((network) => ({ page, network }))),
    axes,
  );
}

/** `planLoads` for some pages on some networks. */
export function planCells(
  cells: readonly Pick<PlannedLoad, 'page' | 'network'>[],
  { protocols, views, seeds }: CellAxes,
): PlannedLoad[] {
  return cells.flatMap(({ page, network }, cell) =>
    seeds.flatMap((seed, index) => {
      const turns = takeTurns(protocols, cell + seed - 1);
      return (index === 0 ? naturalFirst(turns) : turns).flatMap((protocol) =>
        views.map((view): PlannedLoad => ({ page, network, protocol, view, seed })),
      );
    }),
  );
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

/** Seeds without an answer after which a protocol counts as unable to reach the page. */
const UNANSWERED_SEEDS = 2;

/** Tracks which loads need not be made: they exist, or their protocol cannot reach the page. */
export class Done {
  readonly #isBlocked: (load: PlannedLoad) => boolean;
  readonly #loads = new Set<string>();
  readonly #reached = new Set<string>();
  /** By series, the seeds whose loads got no answer. */
  readonly #unanswered = new Map<string, Set<number>>();

  /** @param isBlocked whether the network blocks the load's protocol, so that one try is enough */
  constructor(isBlocked: (load: PlannedLoad) => boolean = () => false) {
    this.#isBlocked = isBlocked;
  }

  add(load: PlannedLoad & Pick<GroundTruthLoad, 'outcome' | 'disturbed'>): void {
    // A browser failure says nothing about the protocol.
    if (!load.outcome.ok && load.outcome.kind === 'browser') return;
    this.#loads.add(loadKey(load));
    const series = seriesKey(load);
    if (load.outcome.ok) this.#reached.add(series);
    else if (load.outcome.kind === 'unreachable' && !load.disturbed)
      this.#unanswered.set(series, (this.#unanswered.get(series) ?? new Set()).add(load.seed));
  }

  has(load: PlannedLoad): boolean {
    return this.#loads.has(loadKey(load)) || this.#isUnreachable(load);
  }

  /** Whether this protocol was tried in this cell under enough seeds without ever getting an answer. */
  #isUnreachable(load: PlannedLoad): boolean {
    const series = seriesKey(load);
    const seeds = this.#unanswered.get(series)?.size ?? 0;
    return seeds >= (this.#isBlocked(load) ? 1 : UNANSWERED_SEEDS) && !this.#reached.has(series);
  }
}

/** Measured loads as what predictions are judged by: one cell for each page on each network. */
import {
  type Assignment,
  InputError,
  type NetworkPath,
  PROTOCOLS,
  type Protocol,
  parseRecording,
  type Recording,
} from '@hopwise/pageload-emulator';
import { checkNetwork, toNetworkPath } from '../lab/networks.ts';
import { firstLine, UserError } from '../start/errors.ts';
import type { GroundTruthLoad, GroundTruthMatrix } from '../truth/ground-truth.ts';
import type { TruthProtocol } from '../truth/loads.ts';
import { readLoads, readMatrix } from '../truth/store.ts';

/** Page load times in milliseconds by the seed of their losses. */
export type BySeed = ReadonlyMap<number, number>;

/** Loads under one assignment of protocols to origins. */
export interface AssignedLoads {
  assignment: Assignment;
  pltMs: BySeed;
}

/** A load that predictions are made from. */
export interface Recorded {
  seed: number;
  recording: Recording;
}

/** A page on a network, cold. */
export interface Cell {
  page: string;
  network: string;
  /** The emulated path, as it was set. */
  path: NetworkPath;
  /** Of each protocol that loaded the page. */
  pltMs: ReadonlyMap<TruthProtocol, BySeed>;
  /** Protocols that were tried and never loaded the page, as h3 where UDP is blocked. */
  unavailable: Protocol[];
  assigned: AssignedLoads[];
  recorded: Recorded[];
  /** `h2` where no natural load was recorded. */
  recordedUnder: 'natural' | 'h2';
}

/** Loads that judge nothing, by why. */
export interface LeftOut {
  /** Never came to their load event. */
  failed: number;
  /** Not every request was proved to be on the protocol. */
  unproved: number;
  /** Kept by the lab although other work on the machine disturbed them. */
  disturbed: number;
  /** Repeat views: predictions are of cold loads. */
  warm: number;
}

export interface MeasuredCells {
  matrix: GroundTruthMatrix;
  cells: Cell[];
  /** Loads that judge. */
  loads: number;
  leftOut: LeftOut;
  /** Cells, as `page on network`, in which fewer than two protocols loaded or nothing was recorded. */
  unusable: string[];
}

export interface Selection {
  /** Names; all when absent. */
  pages?: string[];
  networks?: string[];
}

/**
 * Reads a folder of measured loads.
 *
 * @throws UserError (exit code 2) with one line when the folder holds none, when a name is not in it, or when a
 * file of it cannot be used
 */
export async function readCells(dir: string, selection: Selection = {}): Promise<MeasuredCells> {
  const matrix = await readMatrix(dir);
  if (matrix === null) throw new UserError(`${dir}: expected a folder with a matrix.json of npm run lab`, 2);
  checkNames('--pages', selection.pages, Object.keys(matrix.pages));
  checkNames('--networks', selection.networks, Object.keys(matrix.networks));
  const paths = new Map(Object.keys(matrix.networks).map((name) => [name, pathOf(dir, matrix, name)]));

  const leftOut: LeftOut = { failed: 0, unproved: 0, disturbed: 0, warm: 0 };
  const drafts = new Map<string, CellDraft>();
  for await (const load of readLoads(dir)) {
    if (selection.pages && !selection.pages.includes(load.page)) continue;
    if (selection.networks && !selection.networks.includes(load.network)) continue;
    const path = paths.get(load.network);
    if (path === undefined || !Object.hasOwn(matrix.pages, load.page)) {
      throw new UserError(`${dir}: a load of ${load.page} on ${load.network}, which matrix.json has not`, 2);
    }
    const key = `${load.page} on ${load.network}`;
    const draft = drafts.get(key) ?? new CellDraft(load.page, load.network, path);
    drafts.set(key, draft);
    const reason = draft.take(load);
    if (reason !== null) leftOut[reason]++;
  }
  if (drafts.size === 0) throw new UserError(`${dir}: holds no loads yet`, 2);

  const cells: Cell[] = [];
  const unusable: string[] = [];
  for (const [key, draft] of drafts) {
    const cell = draft.finish();
    const forced = PROTOCOLS.filter((protocol) => cell.pltMs.has(protocol));
    if (forced.length < 2 || cell.recorded.length === 0) unusable.push(key);
    else cells.push(cell);
  }
  if (cells.length === 0) {
    throw new UserError(
      `${dir}: no page has loads under two protocols and a recording on any network: let npm run lab go on`,
      2,
    );
  }
  const loads = cells.reduce((sum, cell) => sum + loadsOf(cell), 0);
  return { matrix, cells, loads, leftOut, unusable };
}

function loadsOf({ pltMs, assigned }: Cell): number {
  let loads = 0;
  for (const bySeed of pltMs.values()) loads += bySeed.size;
  for (const each of assigned) loads += each.pltMs.size;
  return loads;
}

function checkNames(option: string, names: string[] | undefined, known: string[]): void {
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new UserError(`${option} ${JSON.stringify(unknown)}: expected some of ${known.join(', ')}`, 2);
  }
}

function pathOf(dir: string, matrix: GroundTruthMatrix, name: string): NetworkPath {
  try {
    return toNetworkPath(checkNetwork(matrix.networks[name]?.network));
  } catch (error) {
    throw new UserError(`${dir}/matrix.json: networks.${name}: ${firstLine(error)}`, 2);
  }
}

class CellDraft {
  readonly #page: string;
  readonly #network: string;
  readonly #path: NetworkPath;
  readonly #pltMs = new Map<TruthProtocol, Map<number, number>>();
  readonly #assigned = new Map<string, { assignment: Assignment; pltMs: Map<number, number> }>();
  readonly #failed = new Set<Protocol>();
  readonly #recorded = { natural: new Map<number, Recording>(), h2: new Map<number, Recording>() };

  constructor(page: string, network: string, path: NetworkPath) {
    this.#page = page;
    this.#network = network;
    this.#path = path;
  }

  /** @returns why the load judges nothing, null when it does. */
  take(load: GroundTruthLoad): keyof LeftOut | null {
    const { protocol, seed, outcome } = load;
    if (load.view !== 'cold') return 'warm';
    if (!outcome.ok) {
      if (protocol !== 'natural' && protocol !== 'assigned') this.#failed.add(protocol);
      return 'failed';
    }
    if (load.disturbed) return 'disturbed';
    if (!outcome.proved) return 'unproved';
    if (protocol === 'assigned') {
      const key = JSON.stringify(Object.entries(load.assignment ?? {}).sort());
      const known = this.#assigned.get(key) ?? { assignment: load.assignment ?? {}, pltMs: new Map() };
      known.pltMs.set(seed, outcome.pltMs);
      this.#assigned.set(key, known);
      return null;
    }
    const known = this.#pltMs.get(protocol) ?? new Map<number, number>();
    this.#pltMs.set(protocol, known.set(seed, outcome.pltMs));
    // A recording without requests was slimmed to its figures.
    if ((protocol === 'natural' || protocol === 'h2') && outcome.recording.requests?.length !== 0) {
      this.#recorded[protocol].set(seed, this.#checked(load, outcome.recording));
    }
    return null;
  }

  finish(): Cell {
    const recordedUnder = this.#recorded.natural.size > 0 ? 'natural' : 'h2';
    const recorded = [...this.#recorded[recordedUnder]]
      .map(([seed, recording]) => ({ seed, recording }))
      .sort((a, b) => a.seed - b.seed);
    return {
      page: this.#page,
      network: this.#network,
      path: this.#path,
      pltMs: this.#pltMs,
      unavailable: PROTOCOLS.filter((protocol) => this.#failed.has(protocol) && !this.#pltMs.has(protocol)),
      assigned: [...this.#assigned.values()],
      recorded,
      recordedUnder,
    };
  }

  #checked(load: GroundTruthLoad, recording: Recording): Recording {
    try {
      return parseRecording(recording);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const place = `${load.page} on ${load.network}, ${load.protocol}, seed ${load.seed}`;
      throw new UserError(`${place}: recording: ${error.message}`, 2);
    }
  }
}

/** Measured loads by cell: the loads that judge, and those that predictions are made from. */

import { type LabNetwork, toNetworkPath } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import type { GroundTruthLoad, GroundTruthMatrix } from '@hopwise/lab/ground-truth/ground-truth';
import { readLoads, readMatrix } from '@hopwise/lab/ground-truth/store';
import { mediansAt } from '@hopwise/lab/judge/cell-ground-truth';
import { type CellLoads, judgeLoads, type LeftOut } from '@hopwise/lab/judge/cell-loads';
import {
  InputError,
  type NetworkPath,
  parseRecording,
  type Recording,
  type ServerProfile,
} from '@hopwise/pageload-emulator';
import { EarlierLoads } from './earlier-loads.ts';

/** A load that predictions are made from. */
export interface Recorded {
  seed: number;
  recording: Recording;
  /**
   * Seeds whose loads judge the prediction. They exclude the load's own seed when a forced load was recorded, as that is itself
   * one of the judging loads.
   */
  judgingSeeds: readonly number[];
}

/** A page on a network, in cold loads. */
export interface Cell {
  page: string;
  network: string;
  /** The emulated link as configured. */
  link: LabNetwork;
  /** The network in the emulator's terms. */
  path: NetworkPath;
  /** How the servers send, where it differs from what is assumed of unknown servers. */
  sending?: Pick<ServerProfile, 'tcp' | 'quic'>;
  loads: CellLoads<GroundTruthLoad>;
  recorded: Recorded[];
  /** Recordings of earlier loads of other pages on the network, in order. */
  earlier: readonly Recording[];
  /** `h2` where no natural load was recorded. */
  recordedUnder: 'natural' | 'h2';
}

export interface MeasuredCells {
  matrix: GroundTruthMatrix;
  cells: Cell[];
  /** Loads that judge. */
  loads: number;
  leftOut: LeftOut;
  /** Number of repeat views, which are not used: predictions are for cold loads. */
  warm: number;
  /** Cells, as `page on network`, in which fewer than two protocols load the page or no load was recorded. */
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
 * @throws UserError (exit code 2) with one line when the folder has no loads, lacks a given name, or has an unusable file
 */
export async function readCells(dir: string, selection: Selection = {}): Promise<MeasuredCells> {
  const matrix = await readMatrix(dir);
  if (matrix === null) throw new UserError(`${dir}: expected a folder with a matrix.json of npm run lab`, 2);
  checkNames('--pages', selection.pages, Object.keys(matrix.pages));
  checkNames('--networks', selection.networks, Object.keys(matrix.networks));

  let warm = 0;
  const cold: GroundTruthLoad[] = [];
  const earlier = new EarlierLoads();
  for await (const load of readLoads(dir)) {
    if (selection.networks && !selection.networks.includes(load.network)) continue;
    earlier.add(load);
    if (selection.pages && !selection.pages.includes(load.page)) continue;
    if (!Object.hasOwn(matrix.networks, load.network) || !Object.hasOwn(matrix.pages, load.page)) {
      throw new UserError(`${dir}: a load of ${load.page} on ${load.network}, which matrix.json has not`, 2);
    }
    if (load.view === 'cold') cold.push(isRecorded(load) ? load : withoutRequests(load));
    else warm++;
  }
  if (cold.length === 0) {
    throw new UserError(
      `${dir}: holds no ${warm > 0 ? 'cold loads: predictions are for those' : 'loads yet'}`,
      2,
    );
  }

  const judged = judgeLoads(cold, matrix.networks);
  const cells: Cell[] = [];
  const unusable: string[] = [];
  for (const loads of judged.cells) {
    const before = earlier.before(loads.page, loads.network);
    const cell = { ...cellOf(loads, matrix.networks[loads.network]!.network, before), ...sendingOf(matrix) };
    const compared = Object.keys(mediansAt(loads, loads.seeds)).length;
    if (compared < 2 || cell.recorded.length === 0) unusable.push(`${cell.page} on ${cell.network}`);
    else cells.push(cell);
  }
  if (cells.length === 0) {
    throw new UserError(
      `${dir}: no page has loads of one seed under two protocols and a recording on any network: continue npm run lab`,
      2,
    );
  }
  return { matrix, cells, loads: judged.judging, leftOut: judged.leftOut, warm, unusable };
}

/** The Go servers' QUIC is what is assumed of unknown servers (`defaultServer`); other stacks have the matrix's settings. */
function sendingOf({ server: { stack = 'go', ...server } }: GroundTruthMatrix): Pick<Cell, 'sending'> {
  if (stack === 'go') return {};
  const { initialWindow, congestionControl } = server;
  const own = { initialWindow, congestionControl };
  const { quic = own } = server;
  const control = quic.congestionControl === 'cubic' ? 'quiche-cubic' : quic.congestionControl;
  return { sending: { tcp: own, quic: { initialWindow: quic.initialWindow, congestionControl: control } } };
}

/** Whether predictions may be made from a load. A load without requests was reduced to its figures. */
function isRecorded({ protocol, outcome }: GroundTruthLoad): boolean {
  return (
    (protocol === 'natural' || protocol === 'h2') && outcome.ok && outcome.recording.requests?.length !== 0
  );
}

/** Frees the recordings, which take most of the memory. */
function withoutRequests(load: GroundTruthLoad): GroundTruthLoad {
  const { outcome } = load;
  if (!outcome.ok) return load;
  return { ...load, outcome: { ...outcome, recording: { ...outcome.recording, requests: [] } } };
}

function checkNames(option: string, names: string[] | undefined, known: string[]): void {
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new UserError(`${option} ${JSON.stringify(unknown)}: expected some of ${known.join(', ')}`, 2);
  }
}

function cellOf(
  loads: CellLoads<GroundTruthLoad>,
  link: LabNetwork,
  earlier: readonly GroundTruthLoad[],
): Cell {
  const { page, network, seeds, sound } = loads;
  const recorded = sound.filter(isRecorded).sort((a, b) => a.seed - b.seed);
  const recordedUnder = recorded.some(({ protocol }) => protocol === 'natural') ? 'natural' : 'h2';
  return {
    page,
    network,
    link,
    path: toNetworkPath(link),
    loads,
    recorded: recorded
      .filter(({ protocol }) => protocol === recordedUnder)
      .map((load) => ({
        seed: load.seed,
        recording: checkedRecording(load),
        judgingSeeds: recordedUnder === 'h2' ? seeds.filter((seed) => seed !== load.seed) : seeds,
      }))
      // Without judging loads a prediction cannot be scored.
      .filter(({ judgingSeeds }) => judgingSeeds.length > 0),
    earlier: earlier.map(checkedRecording),
    recordedUnder,
  };
}

function checkedRecording({ page, network, protocol, seed, outcome }: GroundTruthLoad): Recording {
  try {
    return parseRecording(outcome.ok ? outcome.recording : null);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new UserError(`${page} on ${network}, ${protocol}, seed ${seed}: recording: ${error.message}`, 2);
  }
}

/** Measured loads as what predictions are judged by: one cell for each page on each network. */

import { type LabNetwork, toNetworkPath } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import type { GroundTruthLoad, GroundTruthMatrix } from '@hopwise/lab/ground-truth/ground-truth';
import { readLoads, readMatrix } from '@hopwise/lab/ground-truth/store';
import { InputError, type NetworkPath, parseRecording, type Recording } from '@hopwise/pageload-emulator';
import { mediansAt } from '../judge/cell-ground-truth.ts';
import { type CellLoads, judgeLoads, type LeftOut } from '../judge/cell-loads.ts';
import { EarlierLoads } from './earlier-loads.ts';

/** A load that predictions are made from. */
export interface Recorded {
  seed: number;
  recording: Recording;
  /**
   * Seeds whose loads judge what is made of it. Its own is none of them where a forced load was recorded: that would be one of
   * the loads that judge.
   */
  judgedBy: readonly number[];
}

/** A page on a network, cold. */
export interface Cell {
  page: string;
  network: string;
  /** The emulated link, as it was set. */
  link: LabNetwork;
  /** The same in the emulator's terms. */
  path: NetworkPath;
  loads: CellLoads<GroundTruthLoad>;
  recorded: Recorded[];
  /** Recordings of other pages' loads on the network, in the order in which a browser made them before. */
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
  /** Repeat views, which judge nothing: predictions are of cold loads. */
  warm: number;
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
      `${dir}: holds no ${warm > 0 ? 'cold loads: predictions are of those' : 'loads yet'}`,
      2,
    );
  }

  const judged = judgeLoads(cold, matrix.networks);
  const cells: Cell[] = [];
  const unusable: string[] = [];
  for (const loads of judged.cells) {
    const before = earlier.before(loads.page, loads.network);
    const cell = cellOf(loads, matrix.networks[loads.network]!.network, before);
    const compared = Object.keys(mediansAt(loads, loads.seeds)).length;
    if (compared < 2 || cell.recorded.length === 0) unusable.push(`${cell.page} on ${cell.network}`);
    else cells.push(cell);
  }
  if (cells.length === 0) {
    throw new UserError(
      `${dir}: no page has loads of one seed under two protocols and a recording on any network: let npm run lab go on`,
      2,
    );
  }
  return { matrix, cells, loads: judged.judging, leftOut: judged.leftOut, warm, unusable };
}

/** Whether predictions may be made of a load. One without requests was slimmed to its figures. */
function isRecorded({ protocol, outcome }: GroundTruthLoad): boolean {
  return (
    (protocol === 'natural' || protocol === 'h2') && outcome.ok && outcome.recording.requests?.length !== 0
  );
}

/** Recordings are most of what a load takes. */
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
        judgedBy: recordedUnder === 'h2' ? seeds.filter((seed) => seed !== load.seed) : seeds,
      }))
      // Without a load to judge by, nothing can be said of it.
      .filter(({ judgedBy }) => judgedBy.length > 0),
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

/** Predictions of measured page loads, judged. */
import type { Assignment } from '@hopwise/pageload-emulator';
import { median } from 'simple-statistics';
import type { Cell, MeasuredCells } from './cells.ts';
import type { Chooser } from './choosers.ts';
import {
  type Calibration,
  calibrationOf,
  type Figures,
  figuresOf,
  type Headline,
  intervalsOf,
} from './figures.ts';
import { type Guess, PREDICTORS, type Predictor } from './guess.ts';
import { assignedRatio, givenNetwork, hopwiseGuess } from './hopwise.ts';
import { lanternGuess } from './lantern.ts';
import { type CellScore, scoreCell } from './scores.ts';

/** `accuracy.json`. Times are milliseconds, shares and errors fractions of 1. */
export interface Accuracy {
  format: 'hopwise-accuracy';
  version: 1;
  measured: {
    browser: string;
    server: MeasuredCells['matrix']['server'];
    pages: string[];
    networks: string[];
    cells: number;
    loads: number;
    leftOut: MeasuredCells['leftOut'];
    /** Cells that could not be judged, as `page on network`. */
    unusable: string[];
    /** Predictions of each predictor, by what their loads were recorded under; h2 where no natural load was. */
    recorded: { natural: number; h2: number };
  };
  figures: Figures;
  /** 95% bootstrap intervals over cells. */
  intervals: Partial<Record<Chooser, Headline>>;
  byNetwork: Record<string, Figures>;
  byPage: Record<string, Figures>;
  calibration: Partial<Record<Predictor, Calibration>>;
  assigned: AssignedScore[];
  /** Median time of one prediction, from recording to answer. */
  elapsedMs: Partial<Record<Predictor, number>>;
  cells: CellScore[];
}

/** Protocols assigned origin by origin against the best one for all. */
export interface AssignedScore {
  page: string;
  network: string;
  assignment: Assignment;
  loads: number;
  /** Median over that of the best protocol. */
  measuredRatio: number;
  /** The same as hopwise emulates it, the network given; median over the recorded loads. */
  predictedRatio: number;
}

/** How far a run is; called before each prediction, and what it throws ends the run. */
export interface BenchProgress {
  done: number;
  total: number;
  cell: string;
}

const ASK: Record<Predictor, (cell: Cell, recording: Cell['recorded'][number]['recording']) => Guess> = {
  hopwiseGiven: ({ path }, recording) => hopwiseGuess(recording, givenNetwork(path)),
  hopwiseEstimated: (_cell, recording) => hopwiseGuess(recording),
  lantern: ({ path }, recording) => lanternGuess(recording, path),
};

/** Asks predictors about every recorded load of every cell and scores what they say. */
export async function scoreCells(
  cells: readonly Cell[],
  predictors: readonly Predictor[] = PREDICTORS,
  onProgress: (progress: BenchProgress) => void = () => {},
): Promise<CellScore[]> {
  const steps = new Steps(
    cells.reduce((sum, { recorded }) => sum + recorded.length, 0) * predictors.length,
    onProgress,
  );
  const scores: CellScore[] = [];
  for (const cell of cells) {
    const guesses: Partial<Record<Predictor, Guess[]>> = {};
    for (const predictor of predictors) {
      const own: Guess[] = [];
      for (const { recording } of cell.recorded) {
        own.push(await steps.take(cell, () => ASK[predictor](cell, recording)));
      }
      guesses[predictor] = own;
    }
    scores.push(scoreCell(cell, guesses));
  }
  return scores;
}

/** A long run of work without waiting, that can be watched and ended between its steps. */
class Steps {
  readonly #total: number;
  readonly #onProgress: (progress: BenchProgress) => void;
  #done = 0;

  constructor(total: number, onProgress: (progress: BenchProgress) => void) {
    this.#total = total;
    this.#onProgress = onProgress;
  }

  async take<T>({ page, network }: Cell, work: () => T): Promise<T> {
    this.#onProgress({ done: this.#done++, total: this.#total, cell: `${page} on ${network}` });
    const result = work();
    // Signals are only heard between turns of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    return result;
  }
}

/** Judges everything that was measured. */
export async function bench(
  measured: MeasuredCells,
  onProgress: (progress: BenchProgress) => void = () => {},
): Promise<Accuracy> {
  const { cells, matrix } = measured;
  const scores = await scoreCells(cells, PREDICTORS, onProgress);
  const assigned = await scoreAssigned(cells, scores, onProgress);
  const pages = [...new Set(cells.map(({ page }) => page))];
  const networks = Object.keys(matrix.networks).filter((name) => cells.some((cell) => cell.network === name));
  const recorded = { natural: 0, h2: 0 };
  for (const cell of cells) recorded[cell.recordedUnder] += cell.recorded.length;
  const calibration: Accuracy['calibration'] = {};
  const elapsedMs: Accuracy['elapsedMs'] = {};
  for (const predictor of PREDICTORS) {
    const stated = calibrationOf(scores, predictor);
    if (stated !== null) calibration[predictor] = stated;
    elapsedMs[predictor] = median(scores.flatMap((score) => score.predictors[predictor]?.elapsedMs ?? []));
  }
  const group = (names: string[], key: 'page' | 'network') =>
    Object.fromEntries(names.map((name) => [name, figuresOf(scores.filter((score) => score[key] === name))]));
  return {
    format: 'hopwise-accuracy',
    version: 1,
    measured: {
      browser: matrix.browser,
      server: matrix.server,
      pages,
      networks,
      cells: cells.length,
      loads: measured.loads,
      leftOut: measured.leftOut,
      unusable: measured.unusable,
      recorded,
    },
    figures: figuresOf(scores),
    intervals: intervalsOf(scores),
    byNetwork: group(networks, 'network'),
    byPage: group(pages, 'page'),
    calibration,
    assigned,
    elapsedMs,
    cells: scores,
  };
}

async function scoreAssigned(
  cells: readonly Cell[],
  scores: readonly CellScore[],
  onProgress: (progress: BenchProgress) => void,
): Promise<AssignedScore[]> {
  const total = cells.reduce((sum, cell) => sum + cell.assigned.length * cell.recorded.length, 0);
  const steps = new Steps(total, onProgress);
  const assigned: AssignedScore[] = [];
  for (const [index, cell] of cells.entries()) {
    for (const { assignment, pltMs } of cell.assigned) {
      const ratios: number[] = [];
      for (const { recording } of cell.recorded) {
        ratios.push(await steps.take(cell, () => assignedRatio(recording, cell.path, assignment)));
      }
      assigned.push({
        page: cell.page,
        network: cell.network,
        assignment,
        loads: pltMs.size,
        measuredRatio: median([...pltMs.values()]) / scores[index]!.truth.bestMs,
        predictedRatio: median(ratios),
      });
    }
  }
  return assigned;
}

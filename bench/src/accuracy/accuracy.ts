/** Predicts measured page loads and judges the predictions. */

import { median } from '@hopwise/contract';
import { mediansAt } from '@hopwise/lab/judge/cell-ground-truth';
import { type Assigned, judgedAssignments, scoreAssigned } from './assigned.ts';
import type { Cell, MeasuredCells, Recorded } from './cells.ts';
import type { Chooser } from './choosers.ts';
import { econGuess } from './econ.ts';
import { type ExperienceFit, fitExperience } from './experience.ts';
import {
  type Calibration,
  calibrationOf,
  type Figures,
  figuresOf,
  type HeadlineFigures,
  intervalsOf,
} from './figures.ts';
import { type Guess, type LanternProtocol, PREDICTORS, type Predictor } from './guess.ts';
import { assignedRatio, hopwiseGuess, learnedFrom, learnedGuess, serversOf } from './hopwise.ts';
import { lanternGuess, withH3 } from './lantern.ts';
import { type CellScore, scoreCell } from './scores.ts';
import { TUNING_GROUPS, type TuningGroup, tuningGroups } from './tuning.ts';

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
    /** Cells whose best protocol is decided. */
    decided: number;
    loads: number;
    leftOut: MeasuredCells['leftOut'];
    /** Repeat views, which are not judged. */
    warm: number;
    /** Cells that could not be judged, as `page on network`. */
    unusable: string[];
    /** Number of each predictor's predictions, by the protocol of the recorded load: h2 where there was no natural load. */
    recorded: { natural: number; h2: number };
  };
  figures: Figures;
  /** 95% bootstrap intervals over pages. */
  intervals: Partial<Record<Chooser, HeadlineFigures>>;
  byNetwork: Record<string, Figures>;
  byPage: Record<string, Figures>;
  /** By whether the emulator was tuned on the pages and networks. */
  byTuning: Record<TuningGroup, Figures>;
  calibration: Partial<Record<Predictor, Calibration>>;
  /** Median error of Lantern's h3 by the protocol used in its place; the better one is used. */
  lanternH3: { as: LanternProtocol; error: Record<LanternProtocol, number | null> };
  assigned: Assigned;
  /** The prior that these cells would give. */
  experience: Record<'h1' | 'h3', ExperienceFit | null>;
  /** Median time of one prediction, from recording to result. */
  elapsedMs: Partial<Record<Predictor, number>>;
  cells: CellScore[];
}

/** Reports progress; called before each prediction, and an error that it throws ends the run. */
export interface PredictionProgress {
  done: number;
  total: number;
  cell: string;
}

type Guesses = Partial<Record<Predictor, Guess[]>>;

/** Runs each predictor on a recorded load of a cell; null where it lacks input. */
const ASK: Record<Predictor, (cell: Cell) => ((recorded: Recorded) => Guess) | null> = {
  hopwiseGiven:
    ({ path, sending }) =>
    ({ recording }) =>
      hopwiseGuess(recording, { network: path, servers: serversOf(recording, sending) }),
  hopwiseUdp:
    ({ path: { udp } }) =>
    ({ recording }) =>
      hopwiseGuess(recording, { network: { udp } }),
  hopwiseEstimated:
    () =>
    ({ recording }) =>
      hopwiseGuess(recording),
  hopwiseLearned: ({ earlier }) => {
    const cluster = learnedFrom(earlier);
    return cluster && (({ recording }) => learnedGuess(recording, cluster));
  },
  lantern:
    ({ path }) =>
    ({ recording }) =>
      lanternGuess(recording, path),
  econ:
    ({ path }) =>
    ({ recording }) =>
      econGuess(recording, path),
};

/** Runs the predictors on every recorded load of every cell and scores the results. */
export async function scoreCells(
  cells: readonly Cell[],
  predictors: readonly Predictor[] = PREDICTORS,
  onProgress: (progress: PredictionProgress) => void = () => {},
): Promise<CellScore[]> {
  const guesses = await askAll(cells, predictors, onProgress);
  return cells.map((cell, index) => scoreCell(cell, guesses[index]!));
}

async function askAll(
  cells: readonly Cell[],
  predictors: readonly Predictor[],
  onProgress: (progress: PredictionProgress) => void,
): Promise<Guesses[]> {
  const recorded = cells.reduce((sum, cell) => sum + cell.recorded.length, 0);
  const steps = new Steps(recorded * predictors.length, onProgress);
  const all: Guesses[] = [];
  for (const cell of cells) {
    const guesses: Guesses = {};
    for (const predictor of predictors) {
      const ask = ASK[predictor](cell);
      if (ask === null) continue;
      const own: Guess[] = [];
      for (const each of cell.recorded) own.push(await steps.take(cell, () => ask(each)));
      guesses[predictor] = own;
    }
    all.push(guesses);
  }
  return all;
}

/** A long synchronous computation with progress and cancellation between its steps. */
class Steps {
  readonly #total: number;
  readonly #onProgress: (progress: PredictionProgress) => void;
  #done = 0;

  constructor(total: number, onProgress: (progress: PredictionProgress) => void) {
    this.#total = total;
    this.#onProgress = onProgress;
  }

  async take<T>({ page, network }: Cell, work: () => T): Promise<T> {
    this.#onProgress({ done: this.#done++, total: this.#total, cell: `${page} on ${network}` });
    const result = work();
    // Signals are only handled between turns of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    return result;
  }
}

/** Judges all measured cells. */
export async function judgePredictions(
  measured: MeasuredCells,
  onProgress: (progress: PredictionProgress) => void = () => {},
): Promise<Accuracy> {
  const { cells, matrix } = measured;
  const guesses = await askAll(cells, PREDICTORS, onProgress);
  const lanternH3 = bestLanternH3(cells, guesses);
  for (const own of guesses) own.lantern = own.lantern!.map((guess) => withH3(guess, lanternH3.as));
  const scores = cells.map((cell, index) => scoreCell(cell, guesses[index]!));
  const steps = new Steps(
    cells.reduce((sum, cell) => sum + judgedAssignments(cell) * cell.recorded.length, 0),
    onProgress,
  );
  const assigned = await scoreAssigned(cells, async (cell, assignment) => {
    const ratios: number[] = [];
    for (const { recording } of cell.recorded) {
      ratios.push(await steps.take(cell, () => assignedRatio(recording, cell.path, assignment)));
    }
    return median(ratios);
  });
  const pages = [...new Set(cells.map(({ page }) => page))];
  const networks = Object.keys(matrix.networks).filter((name) => cells.some((cell) => cell.network === name));
  const recorded = { natural: 0, h2: 0 };
  for (const cell of cells) recorded[cell.recordedUnder] += cell.recorded.length;
  const calibration: Accuracy['calibration'] = {};
  const elapsedMs: Accuracy['elapsedMs'] = {};
  for (const predictor of PREDICTORS) {
    const stated = calibrationOf(scores, predictor);
    if (stated !== null) calibration[predictor] = stated;
    const times = guesses.flatMap((own) => own[predictor]?.map((guess) => guess.elapsedMs) ?? []);
    if (times.length > 0) elapsedMs[predictor] = median(times);
  }
  const group = (names: string[], key: 'page' | 'network') =>
    Object.fromEntries(names.map((name) => [name, figuresOf(scores.filter((score) => score[key] === name))]));
  const tuning = tuningGroups(scores);
  return {
    format: 'hopwise-accuracy',
    version: 1,
    measured: {
      browser: matrix.browser,
      server: matrix.server,
      pages,
      networks,
      cells: cells.length,
      decided: scores.filter(({ groundTruth }) => groundTruth.decided).length,
      loads: measured.loads,
      leftOut: measured.leftOut,
      warm: measured.warm,
      unusable: measured.unusable,
      recorded,
    },
    figures: figuresOf(scores),
    intervals: intervalsOf(scores),
    byNetwork: group(networks, 'network'),
    byPage: group(pages, 'page'),
    byTuning: Object.fromEntries(
      TUNING_GROUPS.map((name) => [name, figuresOf(tuning[name])]),
    ) as Accuracy['byTuning'],
    calibration,
    lanternH3,
    assigned,
    experience: { h1: fitExperience(cells, 'h1'), h3: fitExperience(cells, 'h3') },
    elapsedMs,
    cells: scores,
  };
}

/** The Lantern protocol that comes closer to the loads measured under h3; h1, its default, without any. */
function bestLanternH3(cells: readonly Cell[], guesses: readonly Guesses[]): Accuracy['lanternH3'] {
  const errorAs = (protocol: LanternProtocol): number | null => {
    const errors = cells.flatMap(({ loads, recorded }, index) =>
      guesses[index]!.lantern!.flatMap(({ pltMs }, at) => {
        const { h3 } = mediansAt(loads, recorded[at]!.judgingSeeds);
        return h3 === undefined ? [] : Math.abs(pltMs[protocol]! / h3 - 1);
      }),
    );
    return errors.length === 0 ? null : median(errors);
  };
  const error = { h1: errorAs('h1'), h2: errorAs('h2') };
  return { as: error.h1 !== null && error.h2 !== null && error.h2 < error.h1 ? 'h2' : 'h1', error };
}

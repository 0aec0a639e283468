/** The choices that ECON, hopwise and fixed rules make for recorded pages, and what loads of them took. */

import { econGuess } from '@hopwise/bench/accuracy/econ';
import { hopwiseGuess } from '@hopwise/bench/accuracy/hopwise';
import { mean } from '@hopwise/contract';
import { toNetworkPath } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import type { GroundTruthMatrix } from '@hopwise/lab/ground-truth/ground-truth';
import { readLoads, readMatrix } from '@hopwise/lab/ground-truth/store';
import { type Medians, mediansAt } from '@hopwise/lab/judge/cell-ground-truth';
import { judgeLoads, type LoadFacts } from '@hopwise/lab/judge/cell-loads';
import { ruleChoice } from '@hopwise/lab/judge/rules';
import { PROTOCOLS, type Protocol, parseRecording, type Recording } from '@hopwise/pageload-emulator';
import { LOSSES, networkName, RECORDED } from './recorded-pages.ts';

/** The first four choose between HTTP/1.1 and HTTP/2, as in the paper. */
export const CHOOSERS = [
  'ECON',
  'hopwise',
  'always HTTP/1.1',
  'always HTTP/2',
  'hopwise with HTTP/3',
  'HTTP/3 unless UDP is hindered',
] as const;
export type PageChooser = (typeof CHOOSERS)[number];

/** A page at a loss. Times are medians, milliseconds. */
export interface PageCell {
  page: string;
  loss: number;
  /** Loads of each protocol that judge. */
  loads: number;
  measured: Medians & Record<'h1' | 'h2', number>;
  choices: Record<PageChooser, Protocol>;
}

/**
 * Judges a folder of measured loads.
 *
 * @param protocols whose loads judge: others of the folder may not be complete
 * @returns cells whose page loads under HTTP/1.1 and HTTP/2 and was recorded, by page and loss
 * @throws UserError for a folder without a matrix
 */
export async function readPageCells(dir: string, protocols: readonly Protocol[]): Promise<PageCell[]> {
  const matrix = await readMatrix(dir);
  if (matrix === null) throw new UserError(`${dir}: expected a folder of measured loads`, 2);
  const recordings = new Map<string, Recording>();
  const forced: LoadFacts[] = [];
  for await (const { page, network, protocol, view, seed, disturbed, outcome } of readLoads(dir)) {
    if (protocols.some((each) => each === protocol)) {
      // Without its recording, which takes most of the memory.
      const { recording: _, ...facts } = { recording: null, ...outcome };
      forced.push({ page, network, protocol, view, seed, disturbed, outcome: facts });
    } else if (protocol === RECORDED.protocol && network === networkName(RECORDED.loss) && outcome.ok) {
      recordings.set(page, parseRecording(outcome.recording));
    }
  }
  const judged = judgeLoads(forced, matrix.networks).cells.flatMap((loads) => {
    const loss = LOSSES.find((each) => networkName(each) === loads.network);
    const recording = recordings.get(loads.page);
    const { h1, h2, ...others } = mediansAt(loads, loads.seeds);
    if (loss === undefined || recording === undefined || h1 === undefined || h2 === undefined) return [];
    return [{ loads, loss, recording, measured: { h1, h2, ...others } }];
  });
  const hasH3 = haveH3(judged);
  return judged.map(({ loads, loss, recording, measured }) => ({
    page: loads.page,
    loss,
    loads: loads.seeds.length,
    measured,
    choices: choicesFor(recording, matrix.networks[loads.network]!, hasH3),
  }));
}

/** Whether all cells were loaded under HTTP/3 too; choices are of HTTP/1.1 and HTTP/2 alone where not. */
export const haveH3 = (cells: readonly Pick<PageCell, 'measured'>[]): boolean =>
  cells.every(({ measured }) => measured.h3 !== undefined);

/** What each chooses from one recording of the page, the network given. */
function choicesFor(
  recording: Recording,
  { network }: GroundTruthMatrix['networks'][string],
  hasH3: boolean,
): PageCell['choices'] {
  const path = toNetworkPath(network);
  const { pltMs } = hopwiseGuess(recording, { network: path });
  return {
    ECON: econGuess(recording, path).best,
    hopwise: fastest(pltMs, ['h1', 'h2']),
    'always HTTP/1.1': 'h1',
    'always HTTP/2': 'h2',
    'hopwise with HTTP/3': fastest(pltMs, hasH3 ? PROTOCOLS : ['h1', 'h2']),
    'HTTP/3 unless UDP is hindered': hasH3 ? (ruleChoice('h3UnlessHindered', network) as Protocol) : 'h2',
  };
}

const fastest = (pltMs: Medians, among: readonly Protocol[]): Protocol =>
  among.reduce((best, each) =>
    (pltMs[each] ?? Number.POSITIVE_INFINITY) < (pltMs[best] ?? Number.POSITIVE_INFINITY) ? each : best,
  );

/** A choice that costs no more than this is right: repeated loads differ by as much. */
export const TOLERANCE = 0.05;

const chosenMs = ({ measured, choices }: PageCell, chooser: PageChooser): number =>
  measured[choices[chooser]]!;

/** Cells in which a choice is the faster of HTTP/1.1 and HTTP/2, or takes at most `tolerance` longer. */
export const countRight = (cells: readonly PageCell[], chooser: PageChooser, tolerance: number): number =>
  cells.filter(
    (cell) => chosenMs(cell, chooser) <= (1 + tolerance) * Math.min(cell.measured.h1, cell.measured.h2),
  ).length;

/** Mean over the cells of what a choice takes less than the wrong one, the slower of HTTP/1.1 and HTTP/2. */
export const gainOf = (cells: readonly PageCell[], chooser: PageChooser): number =>
  mean(cells.map((cell) => 1 - chosenMs(cell, chooser) / Math.max(cell.measured.h1, cell.measured.h2)));

/** Mean page load time over that of ECON's choices, as Figure 12 has it. */
export const timeOverEcon = (cells: readonly PageCell[], chooser: PageChooser): number =>
  mean(cells.map((cell) => chosenMs(cell, chooser))) / mean(cells.map((cell) => chosenMs(cell, 'ECON')));

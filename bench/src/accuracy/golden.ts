/**
 * The golden set: a few measured cells of the project's own pages, small enough to be committed, and the accuracy
 * that was accepted on them. The format is that of any folder of measured loads, except that only the loads used for
 * predictions keep the requests of their recordings.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import { UserError } from '@hopwise/lab/command/errors';
import { replaceFileWithin } from '@hopwise/lab/command/write-file';
import type { GroundTruthLoad } from '@hopwise/lab/ground-truth/ground-truth';
import { gzipMember } from '@hopwise/lab/ground-truth/gzip-members';
import { cellFile, readMatrix } from '@hopwise/lab/ground-truth/store';
import { BUNDLED_PAGES, isBundledPage } from '@hopwise/lab/pages/bundled';
import { WEB_PAGE_NAMES, webPageSpec } from '@hopwise/lab/pages/web-pages';
import { PROTOCOLS, type Protocol, type Recording } from '@hopwise/pageload-emulator';
import * as z from 'zod';
import { type PredictionProgress, scoreCells } from './accuracy.ts';
import { readCells } from './cells.ts';
import { DECISION_MODES, DECISIONS } from './choosers.ts';
import { type Figures, figuresOf } from './figures.ts';
import { PREDICTOR_NAMES } from './guess.ts';

const FIGURES_FILE = 'accuracy.json';
const GOLDEN_PREDICTORS = ['hopwiseGiven', 'hopwiseEstimated', 'hopwiseLearned'] as const;

/** One accepted figure, a fraction of 1; null where there is none. */
export interface GoldenFigure {
  name: string;
  value: number | null;
  /** Which way is better. */
  better: 'less' | 'more';
  /** Slack: how much worse the figure may become without failing. */
  slack: number;
}

interface GoldenComparison {
  /** Accepted and present figures side by side, as text. */
  lines: string[];
  /** Figures that are worse by more than their slack. */
  worse: string[];
}

const acceptedSchema = z.object({
  format: z.literal('hopwise-golden-accuracy'),
  version: z.literal(1),
  figures: z.record(z.string(), z.number().nullable()),
});

/** hopwise's present figures on the golden set. The same code and set give the same figures. */
export async function goldenFigures(
  dir: string,
  onProgress?: (progress: PredictionProgress) => void,
): Promise<GoldenFigure[]> {
  const { cells } = await readCells(dir);
  const scores = await scoreCells(cells, GOLDEN_PREDICTORS, onProgress);
  return trackedFigures(figuresOf(scores));
}

const SLACK = { median: 0.01, p90: 0.03, ratio: 0.01, right: 0.05, regret: 0.01, notLoading: 0, held: 0.05 };

function trackedFigures(figures: Figures): GoldenFigure[] {
  const tracked: GoldenFigure[] = [];
  for (const predictor of GOLDEN_PREDICTORS) {
    const name = (figure: string) => `${PREDICTOR_NAMES[predictor]}: ${figure}`;
    const own = figures.predictors[predictor];
    const choice = figures.choosers[predictor];
    const less = (figure: string, value: number | null | undefined, slack: number) =>
      tracked.push({ name: name(figure), value: rounded(value), better: 'less', slack });
    const perProtocol = (figure: string, of: (protocol: Protocol) => number | undefined, slack: number) => {
      for (const protocol of PROTOCOLS) less(`${figure}, ${protocol}`, of(protocol), slack);
    };
    perProtocol('median error', (protocol) => own?.error[protocol]?.median, SLACK.median);
    perProtocol('p90 error', (protocol) => own?.error[protocol]?.p90, SLACK.p90);
    less('error of h1/h2', own?.ratioError.h1, SLACK.ratio);
    less('error of h3/h2', own?.ratioError.h3, SLACK.ratio);
    tracked.push({
      name: name('right choices'),
      value: rounded(choice?.right?.share),
      better: 'more',
      slack: SLACK.right,
    });
    less('mean regret', choice?.regret.mean, SLACK.regret);
    less(
      'cells that the choice does not load',
      choice === undefined ? null : choice.notLoading / choice.cells,
      SLACK.notLoading,
    );
    const mode = DECISION_MODES.find((each) => DECISIONS[each] === predictor);
    const decisions = mode && figures.decisions[mode];
    less('natural loads in range, off 80%', offGoal(decisions?.naturalHeld), SLACK.held);
    less('loads under protocols in range, off 80%', offGoal(decisions?.protocolsHeld), SLACK.held);
  }
  return tracked;
}

/** How far the share of loads within their 80% ranges is from that. */
const offGoal = (share: number | null | undefined): number | null =>
  share === null || share === undefined ? null : Math.abs(share - 0.8);

/** Further digits may differ between processors. */
function rounded(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Math.round(value * 1e5) / 1e5;
}

/** @throws UserError when the folder has no readable accepted figures */
export async function readAccepted(dir: string): Promise<Record<string, number | null>> {
  const file = join(dir, FIGURES_FILE);
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new UserError(`${file}: expected accepted figures (--accept writes them): ${firstLine(error)}`, 2);
  }
  const parsed = acceptedSchema.safeParse(content);
  if (parsed.success) return parsed.data.figures;
  const issue = parsed.error.issues[0];
  throw new UserError(`${file}: ${issue?.path.join('.') || 'top level'}: ${issue?.message}`, 2);
}

export async function writeAccepted(dir: string, figures: readonly GoldenFigure[]): Promise<void> {
  const accepted: z.infer<typeof acceptedSchema> = {
    format: 'hopwise-golden-accuracy',
    version: 1,
    figures: Object.fromEntries(figures.map(({ name, value }) => [name, value])),
  };
  await replaceFileWithin(dir, FIGURES_FILE, `${JSON.stringify(accepted, null, 2)}\n`);
}

/** A figure that was accepted and is now missing counts as worse. */
export function compareGolden(
  accepted: Record<string, number | null>,
  present: readonly GoldenFigure[],
): GoldenComparison {
  const rows = [['Golden set', 'accepted', 'now', 'change', 'may worsen by', '']];
  const worse: string[] = [];
  const shown = (value: number | null) => (value === null ? '–' : `${(100 * value).toFixed(2)}%`);
  for (const { name, value, better, slack } of present) {
    const before = accepted[name] ?? null;
    const change = value === null || before === null ? null : value - before;
    const worsening = change === null ? null : better === 'less' ? change : -change;
    const isWorse = worsening === null ? before !== null && value === null : worsening > slack;
    if (isWorse) worse.push(name);
    rows.push([
      name,
      shown(before),
      shown(value),
      change === null ? '–' : `${change > 0 ? '+' : ''}${(100 * change).toFixed(2)}`,
      (100 * slack).toFixed(0),
      isWorse ? 'WORSE' : '',
    ]);
  }
  for (const name of Object.keys(accepted)) {
    if (present.some((figure) => figure.name === name)) continue;
    worse.push(name);
    rows.push([name, shown(accepted[name] ?? null), 'gone', '', '', 'WORSE']);
  }
  return { lines: table(rows, { numbers: true }).split('\n'), worse };
}

/**
 * Makes a golden set from a folder of measured loads and replaces the one in `dir`: judging cold loads, times rounded to a
 * tenth of a millisecond, and the requests of the first `recordings` natural loads of each cell.
 *
 * @throws UserError when a page is not the project's own, as pages of recordings and packages must not be committed, or when
 * `dir` is not a golden set
 */
export async function makeGolden(from: string, dir: string, recordings: number): Promise<void> {
  const { cells, matrix } = await readCells(from);
  for (const [name, page] of Object.entries(matrix.pages)) checkOwn(name, page.source);
  await checkReplaceable(dir);
  await mkdir(dir, { recursive: true });
  await rm(join(dir, 'loads'), { recursive: true, force: true });
  for (const cell of cells) {
    const seeds = cell.recorded.slice(0, recordings).map(({ seed }) => seed);
    const members = cell.loads.sound.map((load) => {
      const isRecorded = load.protocol === cell.recordedUnder && seeds.includes(load.seed);
      return gzipMember(`${JSON.stringify(slim(load, isRecorded))}\n`);
    });
    await replaceFileWithin(dir, `loads/${cellFile(cell.page, cell.network)}`, Buffer.concat(members));
  }
  await replaceFileWithin(dir, 'matrix.json', `${JSON.stringify(matrix, null, 1)}\n`);
}

/** Protects hours of measured loads from deletion. */
async function checkReplaceable(dir: string): Promise<void> {
  const isGolden = await readAccepted(dir).then(
    () => true,
    () => false,
  );
  if (!isGolden && (await readMatrix(dir)) !== null) {
    throw new UserError(
      `${dir}: holds measured loads but no accepted figures: it is not a golden set and stays unchanged`,
      2,
    );
  }
}

function checkOwn(name: string, source: string): void {
  if (!isBundledPage(source) && webPageSpec(source) === null) {
    throw new UserError(
      `page ${name} is of ${source}: expected only the project's own pages, which are generated: ${Object.keys(BUNDLED_PAGES).join(', ')}, ${WEB_PAGE_NAMES}`,
      2,
    );
  }
}

function slim(load: GroundTruthLoad, isRecorded: boolean): GroundTruthLoad {
  const { outcome } = load;
  if (!outcome.ok) return load;
  const recording: Recording = isRecorded ? outcome.recording : { ...outcome.recording, requests: [] };
  return tenths({ ...load, outcome: { ...outcome, recording } }) as GroundTruthLoad;
}

/** Rounds to one digit: more is not meaningful for milliseconds, and less compresses well. */
function tenths(value: unknown): unknown {
  if (typeof value === 'number') return Math.round(value * 10) / 10;
  if (Array.isArray(value)) return value.map(tenths);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, tenths(each)]));
}

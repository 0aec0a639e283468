/** Summarises the scores of many cells in a few figures. Fractions of 1: an error of 0.08 is 8%. */

import { groupBy, mean, median, quantile } from '@hopwise/contract';
import {
  bootstrapInterval,
  type ConfidenceInterval,
  drawn,
  meanOrNull,
  medianOrNull,
} from '@hopwise/lab/statistics';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { CHOOSERS, type Chooser, DECISION_MODES, type DecisionMode } from './choosers.ts';
import { type DecisionAccuracy, decisionFigures } from './decisions.ts';
import { PREDICTORS, type Predictor } from './guess.ts';
import { type CellScore, type PredictorScore, rankCorrelation } from './scores.ts';

/** Figures are null without enough loads or cells. */
export interface Figures {
  cells: number;
  predictors: Partial<Record<Predictor, PredictorFigures>>;
  choosers: Partial<Record<Chooser, ChooserFigures>>;
  decisions: Partial<Record<DecisionMode, DecisionAccuracy>>;
  /** Mean regret, on random halves of the loads, of an oracle that chose by the other halves; comparable with `halfRegret`. */
  noiseFloor: number | null;
}

interface PredictorFigures {
  /** |predicted / measured median − 1| over cells and recorded loads. */
  error: Record<Protocol, { median: number; p90: number } | null>;
  /**
   * Spearman's rank correlation over cells of predicted and measured medians. Much of it only reflects that networks differ.
   */
  spearman: Record<Protocol, number | null>;
  /** That correlation over the pages of one network; median over networks. */
  spearmanWithin: Record<Protocol, number | null>;
  /** Mean over predictions of the rank correlation of the three protocols' times. */
  order: number | null;
  /** Median of |predicted − measured| of h1/h2 and h3/h2; 0.1 is ten percentage points. */
  ratioError: { h1: number | null; h3: number | null };
  /**
   * Share within the stated 10th to 90th percentile: of single loads (0.8 when calibrated) and of medians; null where no range
   * is stated.
   */
  coverage: { loads: number; medians: number } | null;
}

export interface ChooserFigures {
  /** Share of right choices where the best leads by more than 5%; null for the browser's own. */
  right: Share | null;
  /** That share where the best protocol is decided. */
  rightDecided: Share | null;
  /** Over cells, of the mean over a cell's recorded loads. */
  regret: { mean: number; p95: number };
  /** Cells in which a choice was judged. */
  cells: number;
  /** Cells in which a choice does not load the page, so that a fallback was judged. */
  notLoading: number;
  /** Mean regret on random halves of the loads; comparable with `noiseFloor`. */
  halfRegret: number | null;
}

export interface Share {
  share: number;
  cells: number;
}

/** hopwise's stated confidence and ranges compared with measurements. */
export interface Calibration {
  /** By stated confidence; `wins` is the mean share of bootstraps of the loads that the predicted best protocol wins. */
  bins: { from: number; to: number; predictions: number; stated: number; wins: number }[];
  /** Mean squared difference of confidence and outcome (Brier 1950), the outcome being drawn from the bootstraps; 0 is best. */
  brier: number;
  /** The irreducible part of it: the variance of those outcomes. */
  brierFloor: number;
  /** Predictions called decided, and the mean share of bootstraps in which they are right. */
  decided: { predictions: number; wins: number | null };
}

export function figuresOf(scores: readonly CellScore[]): Figures {
  const figures: Figures = {
    cells: scores.length,
    predictors: {},
    choosers: {},
    decisions: {},
    noiseFloor: meanOrNull(scores.flatMap(({ noise }) => noise ?? [])),
  };
  for (const predictor of PREDICTORS) {
    if (scores.some(({ predictors }) => predictors[predictor])) {
      figures.predictors[predictor] = predictorFigures(scores, predictor);
    }
  }
  for (const chooser of CHOOSERS) {
    if (scores.some(({ choosers }) => choosers[chooser])) {
      figures.choosers[chooser] = chooserFigures(scores, chooser);
    }
  }
  for (const mode of DECISION_MODES) {
    const own = scores.flatMap(({ decisions }) => (decisions[mode] ? [decisions[mode]] : []));
    if (own.length > 0) figures.decisions[mode] = decisionFigures(own);
  }
  return figures;
}

function predictorFigures(scores: readonly CellScore[], predictor: Predictor): PredictorFigures {
  const own = scores.flatMap(({ predictors, network }) => {
    const score = predictors[predictor];
    return score ? [{ ...score, network }] : [];
  });
  const byNetwork = [...groupBy(own, ({ network }) => network).values()];
  const byProtocol = <T>(of: (protocol: Protocol) => T) =>
    Object.fromEntries(PROTOCOLS.map((protocol) => [protocol, of(protocol)])) as Record<Protocol, T>;
  return {
    error: byProtocol((protocol) => {
      const errors = own.flatMap((score) => score.errors[protocol]);
      return errors.length === 0 ? null : { median: median(errors), p90: quantile(errors, 0.9) };
    }),
    spearman: byProtocol((protocol) => spearmanOf(own, protocol)),
    spearmanWithin: byProtocol((protocol) =>
      medianOrNull(byNetwork.flatMap((each) => spearmanOf(each, protocol) ?? [])),
    ),
    order: meanOrNull(own.flatMap(({ order }) => order)),
    ratioError: {
      h1: medianOrNull(own.flatMap(({ ratioErrors }) => ratioErrors.h1)),
      h3: medianOrNull(own.flatMap(({ ratioErrors }) => ratioErrors.h3)),
    },
    coverage: coverageOf(own),
  };
}

function coverageOf(scores: readonly PredictorScore[]): PredictorFigures['coverage'] {
  const sum = (of: (coverage: PredictorScore['coverage']) => number) =>
    scores.reduce((total, { coverage }) => total + of(coverage), 0);
  const loads = sum((coverage) => coverage.loads);
  if (loads === 0) return null;
  return {
    loads: sum(({ loadsWithin }) => loadsWithin) / loads,
    medians: sum(({ mediansWithin }) => mediansWithin) / sum(({ medians }) => medians),
  };
}

function spearmanOf(scores: readonly PredictorScore[], protocol: Protocol): number | null {
  const both = scores.filter(
    ({ medians, measured }) => medians[protocol] !== undefined && measured[protocol] !== undefined,
  );
  return rankCorrelation(
    both.map(({ medians }) => medians[protocol]!),
    both.map(({ measured }) => measured[protocol]!),
  );
}

function chooserFigures(scores: readonly CellScore[], chooser: Chooser): ChooserFigures {
  const own = scores.flatMap(({ choosers }) => choosers[chooser] ?? []);
  const regrets = own.map(({ regret }) => regret);
  return {
    right: shareRight(scores, chooser, isClear),
    rightDecided: shareRight(scores, chooser, ({ groundTruth }) => groundTruth.decided),
    regret: { mean: mean(regrets), p95: quantile(regrets, 0.95) },
    cells: own.length,
    notLoading: own.filter(({ notLoading }) => notLoading > 0).length,
    halfRegret: meanOrNull(own.flatMap(({ halfRegret }) => halfRegret ?? [])),
  };
}

const BIN_EDGES = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1];

/** Null where the predictor states no confidence. */
export function calibrationOf(scores: readonly CellScore[], predictor: Predictor): Calibration | null {
  const own = scores.flatMap(({ predictors }) => predictors[predictor] ?? []);
  const all = own.flatMap(({ confidence }) => confidence);
  if (all.length === 0) return null;
  const bins: Calibration['bins'] = [];
  for (const [index, from] of BIN_EDGES.slice(0, -1).entries()) {
    const to = BIN_EDGES[index + 1]!;
    const within = all.filter(({ stated }) => stated >= from && (stated < to || to === 1));
    if (within.length === 0) continue;
    bins.push({
      from,
      to,
      predictions: within.length,
      stated: mean(within.map(({ stated }) => stated)),
      wins: mean(within.map(({ wins }) => wins)),
    });
  }
  const decided = all.filter((each) => each.decided);
  return {
    bins,
    brier: mean(all.map(({ stated, wins }) => wins * (1 - stated) ** 2 + (1 - wins) * stated ** 2)),
    brierFloor: mean(all.map(({ wins }) => wins * (1 - wins))),
    decided: { predictions: decided.length, wins: meanOrNull(decided.map(({ wins }) => wins)) },
  };
}

/** Headline figures of a predictor or rule; null where there is none or too few pages have one. */
export interface HeadlineFigures {
  error?: Record<Protocol, ConfidenceInterval | null>;
  right: ConfidenceInterval | null;
  regret: ConfidenceInterval | null;
}

/** With fewer pages an interval says nothing about other pages. */
const MIN_PAGES = 3;

/**
 * 95% intervals from pages resampled with replacement, each with all of its cells (cluster bootstrap: Davison and Hinkley,
 * Bootstrap
 * Methods and their Application, section 3.8): cells of one page are alike.
 */
export function intervalsOf(scores: readonly CellScore[]): Partial<Record<Chooser, HeadlineFigures>> {
  const pages = [...groupBy(scores, ({ page }) => page).values()];
  const interval = (of: (sample: readonly CellScore[]) => number | null): ConfidenceInterval | null => {
    const estimate = of(scores);
    if (estimate === null || pages.length < MIN_PAGES) return null;
    return bootstrapInterval(estimate, (random) => of(drawn(pages, random).flat()), { resamples: 1000 });
  };
  const headlines: Partial<Record<Chooser, HeadlineFigures>> = {};
  for (const chooser of CHOOSERS) {
    if (!scores.some(({ choosers }) => choosers[chooser])) continue;
    headlines[chooser] = {
      right: interval((sample) => shareRight(sample, chooser, isClear)?.share ?? null),
      regret: interval((sample) =>
        meanOrNull(sample.flatMap(({ choosers }) => choosers[chooser]?.regret ?? [])),
      ),
    };
    const predictor = PREDICTORS.find((name) => name === chooser);
    if (predictor === undefined) continue;
    const error = (protocol: Protocol) =>
      interval((sample) =>
        medianOrNull(sample.flatMap(({ predictors }) => predictors[predictor]?.errors[protocol] ?? [])),
      );
    headlines[chooser].error = { h1: error('h1'), h2: error('h2'), h3: error('h3') };
  }
  return headlines;
}

const isClear = ({ groundTruth }: CellScore): boolean => groundTruth.clear;

function shareRight(
  scores: readonly CellScore[],
  chooser: Chooser,
  counts: (score: CellScore) => boolean,
): Share | null {
  const right = scores.flatMap((score) => (counts(score) ? (score.choosers[chooser]?.right ?? []) : []));
  return right.length === 0 ? null : { share: mean(right), cells: right.length };
}

/** Scores of many cells in few figures. Fractions are of 1: an error of 0.08 is 8%. */
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { mean, median, quantile, quantileSorted } from 'simple-statistics';
import { Random } from '../pages/random.ts';
import { CHOOSERS, type Chooser } from './choosers.ts';
import { PREDICTORS, type Predictor } from './guess.ts';
import { type CellScore, isClear, isDecided, rankCorrelation } from './scores.ts';

/** Figures that could not be had, for want of loads or cells, are null. */
export interface Figures {
  cells: number;
  predictors: Partial<Record<Predictor, PredictorFigures>>;
  choosers: Partial<Record<Chooser, ChooserFigures>>;
  /** Mean regret, judged on random halves of the loads, of an oracle that saw the other halves. */
  noiseFloor: number | null;
}

export interface PredictorFigures {
  /** |predicted / measured median − 1| over cells and recorded loads. */
  error: Record<Protocol, { median: number; p90: number } | null>;
  /** Spearman's rank correlation over cells, of the medians predicted and measured. */
  spearman: Record<Protocol, number | null>;
  /** Mean over predictions of the rank correlation of the three protocols' times. */
  order: number | null;
  /** Median of |predicted − measured| of h1/h2 and h3/h2; 0.1 is ten percentage points. */
  ratioError: { h1: number | null; h3: number | null };
}

export interface ChooserFigures {
  /** Share of right choices where the best leads by more than 5%; null for the browser's own. */
  right: Share | null;
  /** The same where nine of ten bootstraps of the loads agree on the best. */
  rightDecided: Share | null;
  /** Over choices that load the page. */
  regret: { mean: number; p95: number } | null;
  /** Cells in which a choice does not load the page; their regret has no bound and is in no mean. */
  notLoading: number;
  /** Mean regret on random halves of the loads, to hold against `noiseFloor`. */
  halfRegret: number | null;
}

export interface Share {
  share: number;
  cells: number;
}

/** hopwise's own statements against what was measured. */
export interface Calibration {
  /** By stated confidence. */
  bins: { from: number; to: number; predictions: number; stated: number; right: number }[];
  /** Mean squared difference of confidence and outcome (Brier 1950); 0 is best. */
  brier: number;
  /** Predictions that it called decided, and the share of them that were right. */
  decided: { predictions: number; right: number | null };
  /** Share within the stated 10th to 90th percentile: of single loads (0.8 when calibrated) and of medians. */
  coverage: { loads: number; medians: number };
}

export function figuresOf(scores: readonly CellScore[]): Figures {
  const figures: Figures = {
    cells: scores.length,
    predictors: {},
    choosers: {},
    noiseFloor: meanOf(scores.flatMap(({ noise }) => noise ?? [])),
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
  return figures;
}

function predictorFigures(scores: readonly CellScore[], predictor: Predictor): PredictorFigures {
  const own = scores.flatMap(({ predictors, truth }) => {
    const score = predictors[predictor];
    return score ? [{ ...score, measured: truth.medians }] : [];
  });
  const byProtocol = <T>(of: (protocol: Protocol) => T) =>
    Object.fromEntries(PROTOCOLS.map((protocol) => [protocol, of(protocol)])) as Record<Protocol, T>;
  return {
    error: byProtocol((protocol) => {
      const errors = own.flatMap((score) => score.errors[protocol]);
      return errors.length === 0 ? null : { median: median(errors), p90: quantile(errors, 0.9) };
    }),
    spearman: byProtocol((protocol) => {
      const both = own.filter(
        ({ medians, measured }) => medians[protocol] !== undefined && measured[protocol] !== undefined,
      );
      return rankCorrelation(
        both.map(({ medians }) => medians[protocol]!),
        both.map(({ measured }) => measured[protocol]!),
      );
    }),
    order: meanOf(own.flatMap(({ order }) => order)),
    ratioError: {
      h1: medianOf(own.flatMap(({ ratioErrors }) => ratioErrors.h1)),
      h3: medianOf(own.flatMap(({ ratioErrors }) => ratioErrors.h3)),
    },
  };
}

function chooserFigures(scores: readonly CellScore[], chooser: Chooser): ChooserFigures {
  const own = scores.flatMap(({ choosers }) => choosers[chooser] ?? []);
  const regrets = regretsOf(scores, chooser);
  return {
    right: shareRight(scores, chooser, isClear),
    rightDecided: shareRight(scores, chooser, isDecided),
    regret: regrets.length === 0 ? null : { mean: mean(regrets), p95: quantile(regrets, 0.95) },
    notLoading: own.filter(({ notLoading }) => notLoading > 0).length,
    halfRegret: meanOf(own.flatMap(({ halfRegret }) => halfRegret ?? [])),
  };
}

const BIN_EDGES = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1];

/** Null where the predictor states nothing. */
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
      right: mean(within.map(({ right }) => Number(right))),
    });
  }
  const decided = all.filter((each) => each.decided);
  const sum = (of: (score: (typeof own)[number]) => number) =>
    own.reduce((total, score) => total + of(score), 0);
  return {
    bins,
    brier: mean(all.map(({ stated, right }) => (stated - Number(right)) ** 2)),
    decided: {
      predictions: decided.length,
      right: meanOf(decided.map(({ right }) => Number(right))),
    },
    coverage: {
      loads: sum(({ coverage }) => coverage.loadsWithin) / sum(({ coverage }) => coverage.loads),
      medians: sum(({ coverage }) => coverage.mediansWithin) / sum(({ coverage }) => coverage.medians),
    },
  };
}

/** 95% bootstrap interval over cells; null where too many resamples have no such figure. */
export type Interval = [low: number, high: number] | null;

/** The figures that a predictor or rule is known by. */
export interface Headline {
  error?: Record<Protocol, Interval>;
  right: Interval;
  regret: Interval;
}

const RESAMPLES = 1000;
const FEWEST_RESAMPLES = 900;

/** Intervals from cells drawn with replacement. Cells of one page or network are alike: intervals over new pages are wider. */
export function intervalsOf(scores: readonly CellScore[]): Partial<Record<Chooser, Headline>> {
  const random = new Random(1);
  const samples = Array.from({ length: RESAMPLES }, () => scores.map(() => random.pick(scores)));
  const interval = (of: (sample: readonly CellScore[]) => number | null): Interval => {
    const values = samples.flatMap((sample) => of(sample) ?? []).sort((a, b) => a - b);
    if (values.length < FEWEST_RESAMPLES) return null;
    return [quantileSorted(values, 0.025), quantileSorted(values, 0.975)];
  };
  const headlines: Partial<Record<Chooser, Headline>> = {};
  for (const chooser of CHOOSERS) {
    if (!scores.some(({ choosers }) => choosers[chooser])) continue;
    headlines[chooser] = {
      right: interval((sample) => shareRight(sample, chooser, isClear)?.share ?? null),
      regret: interval((sample) => meanOf(regretsOf(sample, chooser))),
    };
    const predictor = PREDICTORS.find((name) => name === chooser);
    if (predictor === undefined) continue;
    const error = (protocol: Protocol) =>
      interval((sample) =>
        medianOf(sample.flatMap(({ predictors }) => predictors[predictor]?.errors[protocol] ?? [])),
      );
    headlines[chooser].error = { h1: error('h1'), h2: error('h2'), h3: error('h3') };
  }
  return headlines;
}

function shareRight(
  scores: readonly CellScore[],
  chooser: Chooser,
  counts: (score: CellScore) => boolean,
): Share | null {
  const right = scores.flatMap((score) => (counts(score) ? (score.choosers[chooser]?.right ?? []) : []));
  return right.length === 0 ? null : { share: mean(right), cells: right.length };
}

const regretsOf = (scores: readonly CellScore[], chooser: Chooser): number[] =>
  scores.flatMap(({ choosers }) => choosers[chooser]?.regrets ?? []);

const meanOf = (values: number[]): number | null => (values.length === 0 ? null : mean(values));
const medianOf = (values: number[]): number | null => (values.length === 0 ? null : median(values));

/** How predictors and rules did on one cell. */
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { mean, median, sampleRankCorrelation } from 'simple-statistics';
import type { Cell } from './cells.ts';
import { type Chooser, choiceOf, RULES, ruleChoice, triedProtocols } from './choosers.ts';
import { type Guess, PREDICTORS, type Predictor } from './guess.ts';
import { type Medians, type Split, splitsOf, type Truth, truthOf } from './measured.ts';

/** The best protocol leads clearly from here: runner-up's time over its own, less 1. */
export const CLEAR_LEAD = 0.05;
/** Share of bootstraps that must agree for a clear lead to count as decided. */
export const DECIDED_AGREEMENT = 0.9;

export interface CellScore {
  page: string;
  network: string;
  /** What the loads that were predicted from were recorded under. */
  recordedUnder: Cell['recordedUnder'];
  truth: Truth;
  /** By predictor that was asked; figures of its guesses, one for each recorded load. */
  predictors: Partial<Record<Predictor, PredictorScore>>;
  choosers: Partial<Record<Chooser, ChoiceScore>>;
  /** Regret, on one half of the loads, of the protocol that was best on the other; null with too few loads. */
  noise: number | null;
}

export interface PredictorScore {
  /** Median over the recorded loads. */
  medians: Medians;
  /** |predicted / measured − 1|, for each recorded load. */
  errors: Record<Protocol, number[]>;
  /** |predicted − measured| of the ratios to h2's time. */
  ratioErrors: { h1: number[]; h3: number[] };
  /** Rank correlation of the protocols' times, predicted with measured. */
  order: number[];
  /** hopwise's stated confidence and whether it was right. */
  confidence: { stated: number; decided: boolean; right: boolean }[];
  /** Measured loads, and medians, of which hopwise's range was stated, and how many lay within. */
  coverage: { loads: number; loadsWithin: number; medians: number; mediansWithin: number };
  elapsedMs: number[];
}

/** Figures of choices, one for each recorded load; of a rule there is one. */
export interface ChoiceScore {
  /** Measured time of the choice over that of the best protocol, less 1. */
  regrets: number[];
  /** Choices that do not load the page at all, as h3 where UDP is blocked: they have no regret. */
  notLoading: number;
  /** Share of choices that are the best protocol; absent for the browser's own, which are no protocol for all. */
  right?: number;
  /** Mean regret on random halves of the loads; null with too few. */
  halfRegret: number | null;
}

/** @param guesses of each predictor, one for each of the cell's recorded loads */
export function scoreCell(cell: Cell, guesses: Partial<Record<Predictor, readonly Guess[]>>): CellScore {
  const truth = truthOf(cell);
  const splits = splitsOf(cell);
  const tried = triedProtocols(cell);
  const score: CellScore = {
    page: cell.page,
    network: cell.network,
    recordedUnder: cell.recordedUnder,
    truth,
    predictors: {},
    choosers: {},
    noise: splits.length > 0 ? mean(splits.map((s) => s.medians[s.chosen]! / s.bestMs - 1)) : null,
  };
  for (const predictor of PREDICTORS) {
    const own = guesses[predictor];
    if (own === undefined) continue;
    score.predictors[predictor] = scorePredictor(cell, truth, own, tried);
    const choices = own.flatMap((guess) => choiceOf(guess, tried) ?? []);
    score.choosers[predictor] = scoreChoices(choices, truth, splits);
  }
  for (const rule of RULES) {
    if (rule === 'natural') {
      if (truth.naturalMs !== null) score.choosers.natural = scoreNatural(truth.naturalMs, truth, splits);
      continue;
    }
    const choice = ruleChoice(rule, cell);
    if (tried.includes(choice)) score.choosers[rule] = scoreChoices([choice], truth, splits);
  }
  return score;
}

/** Whether the measured best leads by more than `CLEAR_LEAD`. */
export const isClear = ({ truth }: CellScore): boolean => truth.lead > CLEAR_LEAD;

/** Whether it does so in nearly all bootstraps of the loads. */
export const isDecided = (score: CellScore): boolean =>
  isClear(score) && score.truth.agreement >= DECIDED_AGREEMENT;

function scorePredictor(
  cell: Cell,
  truth: Truth,
  guesses: readonly Guess[],
  tried: readonly Protocol[],
): PredictorScore {
  const measured = truth.medians;
  const score: PredictorScore = {
    medians: {},
    errors: { h1: [], h2: [], h3: [] },
    ratioErrors: { h1: [], h3: [] },
    order: [],
    confidence: [],
    coverage: { loads: 0, loadsWithin: 0, medians: 0, mediansWithin: 0 },
    elapsedMs: guesses.map(({ elapsedMs }) => elapsedMs),
  };
  for (const protocol of PROTOCOLS) {
    const times = guesses.flatMap(({ pltMs }) => pltMs[protocol] ?? []);
    if (times.length > 0) score.medians[protocol] = median(times);
    const at = measured[protocol];
    if (at !== undefined) score.errors[protocol] = times.map((time) => Math.abs(time / at - 1));
  }
  for (const guess of guesses) {
    for (const protocol of ['h1', 'h3'] as const) {
      const predicted = ratio(guess.pltMs, protocol);
      const real = ratio(measured, protocol);
      if (predicted !== null && real !== null) score.ratioErrors[protocol].push(Math.abs(predicted - real));
    }
    const both = PROTOCOLS.filter((p) => guess.pltMs[p] !== undefined && measured[p] !== undefined);
    const order = rankCorrelation(
      both.map((p) => guess.pltMs[p]!),
      both.map((p) => measured[p]!),
    );
    if (order !== null) score.order.push(order);
    if (guess.stated !== undefined) noteStated(score, cell, truth, guess, guess.stated, tried);
  }
  return score;
}

function noteStated(
  score: PredictorScore,
  cell: Cell,
  truth: Truth,
  guess: Guess,
  { confidence, decided, ranges }: NonNullable<Guess['stated']>,
  tried: readonly Protocol[],
): void {
  // Its confidence is in its own best, whatever was tried.
  if (tried.includes(guess.best)) {
    score.confidence.push({ stated: confidence, decided, right: guess.best === truth.best });
  }
  const { coverage } = score;
  for (const protocol of PROTOCOLS) {
    const range = ranges[protocol];
    const loads = cell.pltMs.get(protocol);
    if (range === undefined || loads === undefined) continue;
    const within = (time: number) => time >= range.low && time <= range.high;
    coverage.loads += loads.size;
    coverage.loadsWithin += [...loads.values()].filter(within).length;
    coverage.medians++;
    if (within(truth.medians[protocol]!)) coverage.mediansWithin++;
  }
}

function scoreChoices(choices: readonly Protocol[], truth: Truth, splits: readonly Split[]): ChoiceScore {
  const regrets = choices.flatMap((choice) => {
    const time = truth.medians[choice];
    return time === undefined ? [] : time / truth.bestMs - 1;
  });
  const halves = splits.flatMap(({ medians, bestMs }) =>
    choices.flatMap((choice) => {
      const time = medians[choice];
      return time === undefined ? [] : time / bestMs - 1;
    }),
  );
  const right = choices.filter((choice) => choice === truth.best).length;
  return {
    regrets,
    notLoading: choices.length - regrets.length,
    ...(choices.length > 0 && { right: right / choices.length }),
    halfRegret: halves.length > 0 ? mean(halves) : null,
  };
}

function scoreNatural(naturalMs: number, { bestMs }: Truth, splits: readonly Split[]): ChoiceScore {
  const halves = splits.flatMap((split) =>
    split.naturalMs === null ? [] : split.naturalMs / split.bestMs - 1,
  );
  return {
    regrets: [naturalMs / bestMs - 1],
    notLoading: 0,
    halfRegret: halves.length > 0 ? mean(halves) : null,
  };
}

function ratio(times: Medians, protocol: 'h1' | 'h3'): number | null {
  const { h2, [protocol]: own } = times;
  return h2 === undefined || own === undefined ? null : own / h2;
}

/** Spearman's, with ties sharing their ranks; null where either side has no order. */
export function rankCorrelation(a: number[], b: number[]): number | null {
  if (a.length < 2) return null;
  const correlation = sampleRankCorrelation(a, b);
  return Number.isNaN(correlation) ? null : correlation;
}

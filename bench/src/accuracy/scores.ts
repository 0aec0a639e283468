/** Scores of predictors and rules on one cell. */

import { mean, median } from '@hopwise/contract';
import {
  type CellGroundTruth,
  groundTruthOf,
  type Medians,
  medianAt,
} from '@hopwise/lab/judge/cell-ground-truth';
import { doesNotLoad } from '@hopwise/lab/judge/cell-loads';
import { halfRegretOf, halvesOf, noiseOf, regretOf } from '@hopwise/lab/judge/regret';
import { isTried, RULES, ruleChoice } from '@hopwise/lab/judge/rules';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import { meanOrNull } from '@hopwise/lab/statistics';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { sampleRankCorrelation } from 'simple-statistics';
import type { Cell, Recorded } from './cells.ts';
import { type Chooser, choiceOf, DECISION_MODES, DECISIONS, type DecisionMode } from './choosers.ts';
import { type DecisionScore, type JudgingLoads, scoreDecision } from './decisions.ts';
import { type Guess, PREDICTORS, type Predictor } from './guess.ts';

export interface CellScore {
  page: string;
  network: string;
  /** Protocol of the recorded loads that predictions are made from. */
  recordedUnder: Cell['recordedUnder'];
  groundTruth: CellGroundTruth;
  /** Median load time of the browser's own choice; null without such loads. */
  naturalMs: number | null;
  /** By predictor; figures of its guesses, one for each recorded load. */
  predictors: Partial<Record<Predictor, PredictorScore>>;
  choosers: Partial<Record<Chooser, ChoiceScore>>;
  /** By mode, for each recorded load. */
  decisions: Partial<Record<DecisionMode, DecisionScore[]>>;
  /** Regret, on one half of the loads, of the protocol that was best on the other; null with too few loads. */
  noise: number | null;
}

export interface PredictorScore {
  /** Median over the recorded loads. */
  medians: Medians;
  /** Measured medians to compare with; where a forced load was recorded, of the other seeds. */
  measured: Medians;
  /** |predicted / measured − 1|, for each recorded load. */
  errors: Record<Protocol, number[]>;
  /** |predicted − measured| of the ratios to h2's time. */
  ratioErrors: { h1: number[]; h3: number[] };
  /** Rank correlation of the protocols' times, predicted with measured. */
  order: number[];
  /** hopwise's stated confidence, and the share of bootstraps of the loads that its best protocol wins. */
  confidence: { stated: number; decided: boolean; wins: number }[];
  /** Measured loads and medians with a range stated by hopwise, and how many lie within it. */
  coverage: { loads: number; loadsWithin: number; medians: number; mediansWithin: number };
  elapsedMs: number[];
}

/** Means over a predictor's choices, one for each recorded load; a rule has one choice. */
interface ChoiceScore {
  /** Time of the choice over that of the best protocol, less 1; see `regretOf`. */
  regret: number;
  /** Share of choices that do not load the page, as h3 where UDP is blocked. */
  notLoading: number;
  /** Share of choices that are the best protocol; null for the browser's own choices, which are not a single protocol. */
  right: number | null;
  /** Mean regret on random halves of the loads; null with too few. */
  halfRegret: number | null;
}

/**
 * @param guesses of each predictor, one for each of the cell's recorded loads
 * @throws {RangeError} when fewer than two protocols load the page
 */
export function scoreCell(cell: Cell, guesses: Partial<Record<Predictor, readonly Guess[]>>): CellScore {
  const { page, network, link, loads, recorded, recordedUnder } = cell;
  const groundTruth = groundTruthOf(loads);
  if (groundTruth === null)
    throw new RangeError(`${page} on ${network}: expected two protocols that load the page`);
  const groundTruths = recorded.map(({ judgingSeeds }) =>
    judgingSeeds.length === loads.seeds.length ? groundTruth : groundTruthOf(loads, judgingSeeds),
  );
  const score: CellScore = {
    page,
    network,
    recordedUnder,
    groundTruth,
    naturalMs: medianAt(loads.pltMs.get('natural'), loads.seeds),
    predictors: {},
    choosers: {},
    decisions: {},
    noise: noiseOf(loads, halvesOf(loads.seeds)),
  };
  const tried = PROTOCOLS.filter((protocol) => isTried(loads, protocol));
  for (const predictor of PREDICTORS) {
    const own = guesses[predictor];
    if (own === undefined) continue;
    const judged = own.flatMap((guess, index): Judged[] => {
      const judge = groundTruths[index];
      return judge ? [{ guess, recorded: recorded[index]!, groundTruth: judge }] : [];
    });
    score.predictors[predictor] = scorePredictor(cell, judged, tried);
    const choices = judged.flatMap(({ guess, recorded: { judgingSeeds }, groundTruth }): Choice[] => {
      const choice = choiceOf(guess, tried);
      return choice === null ? [] : [{ choice, judgingSeeds, best: groundTruth.best }];
    });
    const chosen = scoreChoices(cell, choices);
    if (chosen !== null) score.choosers[predictor] = chosen;
  }
  for (const mode of DECISION_MODES) {
    const own = guesses[DECISIONS[mode]];
    if (own === undefined) continue;
    const choices: Choice[] = [];
    const decisions: DecisionScore[] = [];
    for (const [index, { decision, pltMs }] of own.entries()) {
      const judge = groundTruths[index];
      const { judgingSeeds, seed } = recorded[index]!;
      const choice = decision && choiceOf({ best: decision.best, pltMs }, tried);
      if (!judge || !decision || !choice) continue;
      choices.push({ choice, judgingSeeds, best: judge.best });
      decisions.push(
        scoreDecision(decision, judge, {
          naturalMs: medianAt(loads.pltMs.get('natural'), judgingSeeds),
          others: otherLoads(cell, seed),
        }),
      );
    }
    if (decisions.length > 0) score.decisions[mode] = decisions;
    const chosen = scoreChoices(cell, choices);
    if (chosen !== null) score.choosers[mode] = chosen;
  }
  for (const rule of RULES) {
    const choice = ruleChoice(rule, link);
    if (!isTried(loads, choice)) continue;
    const chosen = scoreChoices(cell, [{ choice, judgingSeeds: loads.seeds, best: groundTruth.best }]);
    if (chosen !== null) score.choosers[rule] = chosen;
  }
  return score;
}

/** Load times of a cell by protocol, milliseconds, but for that of a recorded load. */
function otherLoads({ loads, recordedUnder }: Cell, recordedSeed: number): JudgingLoads['others'] {
  return Object.fromEntries(
    [...loads.pltMs].map(([protocol, bySeed]) => [
      protocol,
      [...bySeed].filter(([seed]) => protocol !== recordedUnder || seed !== recordedSeed).map(([, ms]) => ms),
    ]),
  );
}

/** A guess with the ground truth that judges it. */
interface Judged {
  guess: Guess;
  recorded: Recorded;
  groundTruth: CellGroundTruth;
}

function scorePredictor(
  { loads }: Cell,
  judged: readonly Judged[],
  tried: readonly Protocol[],
): PredictorScore {
  const score: PredictorScore = {
    medians: {},
    measured: {},
    errors: { h1: [], h2: [], h3: [] },
    ratioErrors: { h1: [], h3: [] },
    order: [],
    confidence: [],
    coverage: { loads: 0, loadsWithin: 0, medians: 0, mediansWithin: 0 },
    elapsedMs: judged.map(({ guess }) => guess.elapsedMs),
  };
  for (const protocol of PROTOCOLS) {
    const times = judged.flatMap(({ guess }) => guess.pltMs[protocol] ?? []);
    if (times.length > 0) score.medians[protocol] = median(times);
    const measured = judged.flatMap(({ groundTruth }) => groundTruth.medians[protocol] ?? []);
    if (measured.length > 0) score.measured[protocol] = median(measured);
  }
  for (const each of judged) {
    const { guess, groundTruth } = each;
    const measured = groundTruth.medians;
    const both = PROTOCOLS.filter((p) => guess.pltMs[p] !== undefined && measured[p] !== undefined);
    for (const protocol of both) {
      score.errors[protocol].push(Math.abs(guess.pltMs[protocol]! / measured[protocol]! - 1));
    }
    for (const protocol of ['h1', 'h3'] as const) {
      const predicted = ratio(guess.pltMs, protocol);
      const real = ratio(measured, protocol);
      if (predicted !== null && real !== null) score.ratioErrors[protocol].push(Math.abs(predicted - real));
    }
    const order = rankCorrelation(
      both.map((p) => guess.pltMs[p]!),
      both.map((p) => measured[p]!),
    );
    if (order !== null) score.order.push(order);
    // Its confidence refers to its own best, even if that was not measured.
    if (guess.stated && tried.includes(guess.best)) {
      const { confidence, decided } = guess.stated;
      score.confidence.push({ stated: confidence, decided, wins: groundTruth.wins[guess.best] ?? 0 });
    }
    noteCoverage(score.coverage, loads.pltMs, each);
  }
  return score;
}

function noteCoverage(
  coverage: PredictorScore['coverage'],
  pltMs: Cell['loads']['pltMs'],
  { guess, recorded, groundTruth }: Judged,
): void {
  for (const protocol of PROTOCOLS) {
    const range = guess.stated?.ranges[protocol];
    const measuredMs = groundTruth.medians[protocol];
    if (range === undefined || measuredMs === undefined) continue;
    const within = (time: number) => time >= range.low && time <= range.high;
    const times = recorded.judgingSeeds.flatMap((seed) => pltMs.get(protocol)?.get(seed) ?? []);
    coverage.loads += times.length;
    coverage.loadsWithin += times.filter(within).length;
    coverage.medians++;
    if (within(measuredMs)) coverage.mediansWithin++;
  }
}

interface Choice {
  choice: ProtocolMode;
  /** Seeds whose loads judge it. */
  judgingSeeds: readonly number[];
  best: Protocol;
}

/** Null where the loads can judge none of the choices. */
function scoreChoices({ loads }: Cell, choices: readonly Choice[]): ChoiceScore | null {
  const regrets = choices.flatMap(({ choice, judgingSeeds }) => regretOf(loads, choice, judgingSeeds) ?? []);
  if (regrets.length === 0) return null;
  const halves = choices.flatMap(
    ({ choice, judgingSeeds }) => halfRegretOf(loads, choice, halvesOf(judgingSeeds)) ?? [],
  );
  const isNatural = choices.some(({ choice }) => choice === 'natural');
  return {
    regret: mean(regrets),
    notLoading: mean(choices.map(({ choice }) => Number(doesNotLoad(loads, choice)))),
    right: isNatural ? null : mean(choices.map(({ choice, best }) => Number(choice === best))),
    halfRegret: meanOrNull(halves),
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

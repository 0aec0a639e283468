import { RULE_NAMES, RULES, type Rule } from '@hopwise/lab/judge/rules';
import type { Protocol } from '@hopwise/pageload-emulator';
import { type Guess, PREDICTOR_NAMES, PREDICTORS, type Predictor } from './guess.ts';

/** hopwise's decisions, each with the predictor whose knowledge it rests on. */
export const DECISIONS = {
  decisionGiven: 'hopwiseGiven',
  decisionUdp: 'hopwiseUdp',
  decisionEstimated: 'hopwiseEstimated',
  decisionLearned: 'hopwiseLearned',
} as const satisfies Record<string, Predictor>;
export type DecisionMode = keyof typeof DECISIONS;
export const DECISION_MODES = Object.keys(DECISIONS) as DecisionMode[];

export const CHOOSERS = [...PREDICTORS, ...DECISION_MODES, ...RULES] as const;
export type Chooser = Predictor | DecisionMode | Rule;

export const CHOOSER_NAMES: Record<Chooser, string> = {
  ...PREDICTOR_NAMES,
  decisionGiven: 'decision, network given',
  decisionUdp: 'decision, one load and UDP known',
  decisionEstimated: 'decision, one load only',
  decisionLearned: 'decision, other loads before',
  ...(Object.fromEntries(RULES.map((rule) => [rule, RULE_NAMES[rule].name])) as Record<Rule, string>),
};

/** A predictor's choice among the measured protocols. */
export function choiceOf(guess: Pick<Guess, 'best' | 'pltMs'>, tried: readonly Protocol[]): Protocol | null {
  if (tried.includes(guess.best)) return guess.best;
  const timeOf = (protocol: Protocol) => guess.pltMs[protocol] ?? Number.POSITIVE_INFINITY;
  const [first, ...others] = tried.filter((protocol) => guess.pltMs[protocol] !== undefined);
  return first === undefined ? null : others.reduce((a, b) => (timeOf(b) < timeOf(a) ? b : a), first);
}

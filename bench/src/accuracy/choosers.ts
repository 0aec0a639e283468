import type { Protocol } from '@hopwise/pageload-emulator';
import { RULE_NAMES, RULES, type Rule } from '../judge/rules.ts';
import { type Guess, PREDICTOR_NAMES, PREDICTORS, type Predictor } from './guess.ts';

export const CHOOSERS = [...PREDICTORS, ...RULES] as const;
export type Chooser = Predictor | Rule;

export const CHOOSER_NAMES: Record<Chooser, string> = {
  ...PREDICTOR_NAMES,
  ...(Object.fromEntries(RULES.map((rule) => [rule, RULE_NAMES[rule].name])) as Record<Rule, string>),
};

/** A predictor's choice among the measured protocols. */
export function choiceOf(guess: Guess, tried: readonly Protocol[]): Protocol | null {
  if (tried.includes(guess.best)) return guess.best;
  const timeOf = (protocol: Protocol) => guess.pltMs[protocol] ?? Number.POSITIVE_INFINITY;
  const [first, ...others] = tried.filter((protocol) => guess.pltMs[protocol] !== undefined);
  return first === undefined ? null : others.reduce((a, b) => (timeOf(b) < timeOf(a) ? b : a), first);
}

import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import type { Cell } from './cells.ts';
import { type Guess, PREDICTOR_NAMES, PREDICTORS, type Predictor } from './guess.ts';

/** Fixed rules beside the predictors. `natural` is what the browser picks by itself, from load to load and origin to origin. */
export const RULES = ['alwaysH1', 'alwaysH2', 'alwaysH3', 'h3UnlessHindered', 'natural'] as const;
export type Rule = (typeof RULES)[number];

export const CHOOSERS = [...PREDICTORS, ...RULES] as const;
export type Chooser = Predictor | Rule;

export const CHOOSER_NAMES: Record<Chooser, string> = {
  ...PREDICTOR_NAMES,
  alwaysH1: 'always h1',
  alwaysH2: 'always h2',
  alwaysH3: 'always h3',
  h3UnlessHindered: 'h3 unless UDP is hindered',
  natural: "the browser's own choice",
};

/** Protocols with loads of a cell, or that were tried in vain. */
export function triedProtocols({ pltMs, unavailable }: Cell): Protocol[] {
  return PROTOCOLS.filter((protocol) => pltMs.has(protocol) || unavailable.includes(protocol));
}

/** A predictor's choice among the protocols that were tried. */
export function choiceOf(guess: Guess, tried: readonly Protocol[]): Protocol | null {
  if (tried.includes(guess.best)) return guess.best;
  const timeOf = (protocol: Protocol) => guess.pltMs[protocol] ?? Number.POSITIVE_INFINITY;
  const [first, ...others] = tried.filter((protocol) => guess.pltMs[protocol] !== undefined);
  return first === undefined ? null : others.reduce((a, b) => (timeOf(b) < timeOf(a) ? b : a), first);
}

/** What a rule takes on a path. `h3UnlessHindered` is told what the path does to UDP, and falls back on h2. */
export function ruleChoice(rule: Exclude<Rule, 'natural'>, { path }: Cell): Protocol {
  switch (rule) {
    case 'alwaysH1':
      return 'h1';
    case 'alwaysH2':
      return 'h2';
    case 'alwaysH3':
      return 'h3';
    case 'h3UnlessHindered':
      return path.udp.kind === 'open' ? 'h3' : 'h2';
  }
}

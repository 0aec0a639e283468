import type { WindowExchange } from './learn-window.ts';

/** Figures of one phase of an experiment; the 80th percentiles are those after learning. */
export interface WindowFigures {
  phase: number;
  requests: number;
  /** Most used window after learning, segments; null where learning did not end. */
  window: number | null;
  /** Requests until the last trial of the phase. */
  untilLearned: number;
  /** 80th percentiles after learning, milliseconds, and the share that the learned window saves; null where nothing is left. */
  learned: { p80Ms: number; usualP80Ms: number; gain: number } | null;
  /** Those figures over all of the phase's requests, trials included. */
  all: { p80Ms: number; usualP80Ms: number; gain: number };
}

export function judgeWindow(exchanges: readonly WindowExchange[]): WindowFigures[] {
  const phases = [...new Set(exchanges.map(({ phase }) => phase))];
  return phases.map((phase) => {
    const own = exchanges.filter((each) => each.phase === phase);
    const untilLearned = own.findLastIndex(({ reason }) => reason === 'trial') + 1;
    const after = own.slice(untilLearned);
    const used = after.map(({ window }) => window);
    return {
      phase,
      requests: own.length,
      window: used.length === 0 ? null : mostFrequent(used),
      untilLearned,
      learned: after.length === 0 ? null : comparisonOf(after),
      all: comparisonOf(own),
    };
  });
}

function comparisonOf(exchanges: readonly WindowExchange[]): WindowFigures['all'] {
  const p80Ms = p80(exchanges.map(({ ms }) => ms));
  const usualP80Ms = p80(exchanges.map(({ usualMs }) => usualMs));
  return { p80Ms, usualP80Ms, gain: 1 - p80Ms / usualP80Ms };
}

/** By the nearest rank. */
const p80 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(0.8 * values.length) - 1]!;

const mostFrequent = (values: readonly number[]): number => {
  const count = (value: number) => values.filter((each) => each === value).length;
  return values.reduce((a, b) => (count(b) > count(a) ? b : a));
};

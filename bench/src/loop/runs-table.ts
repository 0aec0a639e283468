import { table } from '@hopwise/contract/terminal';
import { change } from '../product/figure-text.ts';
import { type JudgedRun, type RunSummary, summariseRuns } from './judge-runs.ts';

/** The autopilot's pins in words, beside the goals: harmful ones are removed within 5 loads, good ones kept over 50. */
export function showRuns(runs: readonly JudgedRun[]): string {
  const lasting = runs.filter(({ trigger }) => trigger !== 'trial');
  const trials = runs.filter(({ trigger }) => trigger === 'trial');
  const rows = lasting.map(({ network, page, trigger, kinds, loads, ratio, end }) => [
    `${network}, ${page}`,
    trigger,
    kinds.join(', '),
    String(loads),
    change(ratio),
    end ?? 'in force',
  ]);
  const { slower, faster } = summariseRuns(runs);
  const trialLoads = trials.reduce((sum, { loads }) => sum + loads, 0);
  return [
    'Pins of the autopilot, by the loads that they were in force for, against the browser alone at the same visits with the same losses.',
    '',
    table([['page', 'why', 'pins', 'loads', 'against the browser’s own choice', 'ended'], ...rows], {
      numbers: true,
    }),
    '',
    `slower by over 5%: ${describe(slower)} (goal: removed within 5)`,
    `faster by over 5%: ${describe(faster)} (goal: kept over 50)`,
    `trials: ${trialLoads} loads`,
    '',
  ].join('\n');
}

const describe = (summary: RunSummary | null): string =>
  summary === null
    ? 'none'
    : `${summary.runs}, in force for ${summary.loads} loads (median; ${summary.mostLoads} at most), ${summary.stayed} of them at the end`;

import { table } from '@hopwise/contract/terminal';
import type { ProductArm } from './arms.ts';
import { type Estimate, showRatio } from './figure-text.ts';
import type { GoalRow, Goals } from './judge-goals.ts';

/** The goals and what was reached, an arm a column. */
export function showGoals({ rows, harmed }: Goals): string {
  const arms = [...harmed.keys()];
  const lines = rows.map(({ what, unit, goal, figures }) => [
    what,
    ...arms.map((arm) => show(figures.get(arm) ?? null, unit)),
    goal,
  ]);
  const pages = (arm: ProductArm) => {
    const { pages, of } = harmed.get(arm)!;
    return of === 0 ? '–' : `${pages} of ${of}`;
  };
  const header = ['all networks', ...arms, 'goal'];
  return `${table([header, ...lines, ['pages surely slower by 2% where UDP is open', ...arms.map(pages), 'none']], { numbers: true })}\n`;
}

function show(figure: Estimate | null, unit: GoalRow['unit']): string {
  if (figure === null) return '–';
  if (unit === 'ratio') return showRatio(figure);
  const { estimate, low, high } = figure;
  const percent = (share: number) => `${Math.round(100 * share)}%`;
  return low === undefined || high === undefined
    ? percent(estimate)
    : `${percent(estimate)} (${percent(low)} to ${percent(high)})`;
}

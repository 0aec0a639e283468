import { table } from '@hopwise/contract/terminal';
import type { ConfidenceInterval } from '@hopwise/lab/statistics';
import type { ProductArm } from './arms.ts';
import { interval } from './figure-text.ts';
import type { GoalRow, Goals } from './judge-goals.ts';

/** The goals and what was reached, an arm a column. */
export function showGoals({ rows, harmed }: Goals): string {
  const arms = [...harmed.keys()];
  const lines = rows.map(({ what, unit, goal, figures }) => [
    what,
    ...arms.map((arm) => show(figures.get(arm) ?? null, unit)),
    goal,
  ]);
  const pages = (arm: ProductArm) => `${harmed.get(arm)!.pages} of ${harmed.get(arm)!.of}`;
  const header = ['all networks', ...arms, 'goal'];
  return `${table([header, ...lines, ['pages surely slower by 2% where UDP is open', ...arms.map(pages), 'none']], { numbers: true })}\n`;
}

function show(figure: ConfidenceInterval | null, unit: GoalRow['unit']): string {
  if (figure === null) return '–';
  if (unit === 'ratio') return interval(figure);
  const [estimate, low, high] = [figure.estimate, figure.low, figure.high].map(
    (share) => `${Math.round(100 * share)}%`,
  );
  return `${estimate} (${low} to ${high})`;
}

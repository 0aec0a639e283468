import { table } from '@hopwise/contract/terminal';
import { change } from '../../product/figure-text.ts';
import type { Way, WayFigures } from './judge-ways.ts';

const NAMES: Record<Way, string> = {
  pins: 'with pins',
  trial: 'trials',
  after: 'after pins, over other protocols than the browser alone',
  alike: 'as the browser alone',
};

export function showWays(figures: readonly WayFigures[]): string {
  const rows = figures.map(({ way, loads, ratio, cost }) => [
    NAMES[way],
    String(loads),
    change(ratio),
    change(1 + cost),
  ]);
  return `${table([['loads', 'number', 'against the browser’s own choice', 'of the time of all loads'], ...rows], { numbers: true })}\n`;
}

import { table } from '@hopwise/contract/terminal';
import { change } from '../../product/figure-text.ts';
import type { PinUse, PinUseFigures } from './judge-pin-uses.ts';

const NAMES: Record<PinUse, string> = {
  pins: 'with pins',
  trial: 'trials',
  after: 'after pins, over other protocols than the browser alone',
  alike: 'as the browser alone',
};

export function showPinUses(figures: readonly PinUseFigures[]): string {
  const rows = figures.map(({ pinUse, loads, ratio, cost }) => [
    NAMES[pinUse],
    String(loads),
    change(ratio),
    change(1 + cost),
  ]);
  return `${table([['loads', 'number', 'against the browser’s own choice', 'of the time of all loads'], ...rows], { numbers: true })}\n`;
}

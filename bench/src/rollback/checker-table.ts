import { table } from '@hopwise/contract/terminal';
import type { ConfidenceInterval, Spread } from '@hopwise/lab/statistics';
import type { ClassFigures } from './judge-checker.ts';

export function showChecker(figures: readonly ClassFigures[]): string {
  const rows = [
    [
      'switch makes loads',
      'switches',
      'harm without (95%)',
      'with checker (95%)',
      'called slower',
      'no gain in 5',
      'compared',
      'after loads',
      'on the faster',
    ],
    ...figures.map((each) => [
      each.name,
      `${each.switches}`,
      showInterval(each.harmWithout, change),
      showInterval(each.harmWith, change),
      showInterval(each.slower, share),
      showInterval(each.noGain, share),
      each.compared.toFixed(2),
      showLoads(each.untilRollback),
      each.onFaster === null ? '–' : share(each.onFaster),
    ]),
  ];
  return `${table(rows)}\n`;
}

const showInterval = ({ estimate, low, high }: ConfidenceInterval, show: (value: number) => string): string =>
  `${show(estimate)} (${show(low)} to ${show(high)})`;

const change = (fraction: number): string => {
  const percent = (100 * fraction).toFixed(1);
  return `${fraction < 0 ? percent.replace('-', '−') : `+${percent}`}%`;
};

const share = (fraction: number): string => `${(100 * fraction).toFixed(1)}%`;

/** Median, and 10th to 90th percentile. */
const showLoads = (loads: Spread | null): string =>
  loads === null ? '–' : `${loads.median} (${Math.round(loads.low)} to ${Math.round(loads.high)})`;

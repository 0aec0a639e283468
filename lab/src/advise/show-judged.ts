import { ADVICE_WORDS } from '@hopwise/pageload-emulator';
import { table } from '../output/table.ts';
import type { JudgedAdvice, KindSummary } from './judge-advice.ts';

/** Promises and gains in percent of the load time, their differences in points with 95% intervals. */
export function showJudged(judged: readonly JudgedAdvice[]): string {
  return table(
    [
      ['page and network', 'advice', 'promised', 'gained', 'difference', 'low', 'high', 'kept'],
      ...judged.map(({ page, network, kind, promised, gain, difference, isKept }) => [
        `${page}, ${network}`,
        kind,
        percent(promised),
        percent(gain),
        ...[difference.estimate, difference.low, difference.high].map(points),
        isKept ? 'yes' : 'no',
      ]),
    ],
    { numbers: true },
  );
}

/** Each kind over all cells: medians, and the share of cells in which the promise is kept. */
export function showSummary(summary: readonly KindSummary[]): string {
  return table(
    [
      ['advice', 'cells', 'promised', 'gained', '|difference|', 'kept'],
      ...summary.map(({ kind, cells, promised, gain, difference, kept }) => [
        ADVICE_WORDS[kind],
        String(cells),
        percent(promised),
        percent(gain),
        points(difference),
        `${Math.round(kept * cells)} of ${cells}`,
      ]),
    ],
    { numbers: true },
  );
}

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
const points = (share: number): string => (100 * share).toFixed(1);

import { table } from '@hopwise/contract/terminal';
import { ADVICE_WORDS, MIN_GAIN } from '@hopwise/pageload-emulator';
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
        promised < MIN_GAIN ? 'not given' : isKept ? 'yes' : 'no',
      ]),
    ],
    { numbers: true },
  );
}

/** Each kind over the pages and networks on which it is given: medians, and how often the promise is kept. */
export function showSummary(summary: readonly KindSummary[]): string {
  return table(
    [
      ['advice', 'cells', 'given', 'promised', 'gained', '|difference|', 'kept'],
      ...summary.map(({ kind, cells, given, medians, kept }) => [
        ADVICE_WORDS[kind],
        String(cells),
        String(given),
        ...(medians === null
          ? ['', '', '']
          : [percent(medians.promised), percent(medians.gain), points(medians.difference)]),
        given === 0 ? '' : `${kept} of ${given}`,
      ]),
    ],
    { numbers: true },
  );
}

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
const points = (share: number): string => (100 * share).toFixed(1);

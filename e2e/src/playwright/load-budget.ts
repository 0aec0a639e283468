/** Loads of one page beside a budget. */
import { type MedianInterval, medianInterval } from '@hopwise/lab/median-interval';
import {
  checkLimits,
  checkPage,
  type Judgement,
  judgeFigures,
  type Limits,
} from '@hopwise/pageload-emulator';
import { ReplayError } from './errors.ts';
import { type ReplayLoad, titleOf } from './load.ts';

/** A judgement with the interval of a measured figure; null for predicted ones. */
interface LoadJudgement extends Judgement {
  interval: MedianInterval | null;
}

/**
 * Compares the medians of loads with limits.
 *
 * @param loads of one page on one network by one protocol
 * @throws ReplayError when the loads differ in these, or there is none, or a limit cannot be judged
 */
export function judgeLoads(loads: readonly ReplayLoad[], given: Limits): LoadJudgement[] {
  const limits = checkedLimits(given);
  const [first] = loads;
  if (first === undefined) throw new ReplayError('toMeetBudget: expected at least one load, got none');
  const other = loads.find((load) => titleOf(load) !== titleOf(first));
  if (other) {
    throw new ReplayError(`toMeetBudget: expected loads of ${titleOf(first)}, got one of ${titleOf(other)}`);
  }
  const loadTime = medianInterval(loads.map(({ pltMs }) => pltMs));
  const paint = (limit: number | undefined, title: string, timeOf: (load: ReplayLoad) => number | null) =>
    limit === undefined ? null : medianInterval(paintsOf(loads, title, timeOf));
  const firstPaint = paint(limits.firstPaintMs, 'first paint', ({ fcpMs }) => fcpMs);
  const largestPaint = paint(limits.largestPaintMs, 'largest paint', ({ lcpMs }) => lcpMs);
  const predicted =
    limits.originsOnBest === undefined && limits.gainLeft === undefined
      ? null
      : checkPage(nearestTo(loads, loadTime.median).recording, first.network.path);
  const figures = {
    loadTimeMs: loadTime.median,
    firstPaintMs: firstPaint?.median ?? null,
    largestPaintMs: largestPaint?.median ?? null,
    originsOnBest: predicted?.originsOnBest ?? null,
    gainLeft: predicted?.gainLeft ?? null,
  };
  const intervals = {
    loadTimeMs: loadTime,
    firstPaintMs: firstPaint,
    largestPaintMs: largestPaint,
    originsOnBest: null,
    gainLeft: null,
  };
  return judgeFigures(figures, limits).map((each) => ({ ...each, interval: intervals[each.figure] }));
}

/** Such as `load time: median 4100 ms, 3900 to 4300 ms (94%), at most 4000 ms`. */
export function showLoadJudgement({ figure, value, limit, interval }: LoadJudgement): string {
  const bound = figure === 'originsOnBest' ? 'at least' : 'at most';
  if (interval === null) {
    const title = figure === 'originsOnBest' ? 'origins on their best protocol' : 'gain left';
    return `${title}: ${percent(value)} (predicted), ${bound} ${percent(limit)}`;
  }
  const title = TIME_TITLES[figure];
  const range =
    interval.coverage === 0
      ? ''
      : `, ${Math.round(interval.low)} to ${Math.round(interval.high)} ms (${Math.round(interval.coverage * 100)}%)`;
  return `${title}: median ${Number(value.toFixed(1))} ms${range}, ${bound} ${limit} ms`;
}

/** What measured figures are called. */
const TIME_TITLES: Partial<Record<keyof Limits, string>> = {
  loadTimeMs: 'load time',
  firstPaintMs: 'first paint',
  largestPaintMs: 'largest paint',
};

const percent = (share: number): string => `${Number((share * 100).toFixed(2))}%`;

function checkedLimits(limits: Limits): Limits {
  try {
    return checkLimits(limits);
  } catch (error) {
    throw new ReplayError(error);
  }
}

function paintsOf(
  loads: readonly ReplayLoad[],
  title: string,
  timeOf: (load: ReplayLoad) => number | null,
): number[] {
  return loads.map((load) => {
    const ms = timeOf(load);
    if (ms !== null) return ms;
    throw new ReplayError(`toMeetBudget: ${titleOf(load)}: expected a ${title}, got none`);
  });
}

function nearestTo(loads: readonly ReplayLoad[], pltMs: number): ReplayLoad {
  return loads.reduce((a, b) => (Math.abs(b.pltMs - pltMs) < Math.abs(a.pltMs - pltMs) ? b : a));
}

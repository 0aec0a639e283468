/** Loads beside a budget. */
import { expect as base, describe, it } from 'vitest';
import type { ReplayLoad } from '../../src/playwright/load.ts';
import { judgeLoads, showLoadJudgement } from '../../src/playwright/load-budget.ts';
import { expect } from '../../src/playwright/matchers.ts';
import { loadOf } from '../support/replay-loads.ts';

/** Loads with these times; their first paints come after a quarter of them. */
const loadsOf = (...times: number[]): ReplayLoad[] =>
  times.map((pltMs) => loadOf({ pltMs, fcpMs: pltMs / 4 }));

describe('a budget', () => {
  it('is judged by medians', () => {
    const loads = loadsOf(2000, 2400, 9000);
    expect(loads).toMeetBudget({ loadTimeMs: 2400, firstPaintMs: 600 });
    expect(loads).not.toMeetBudget({ loadTimeMs: 2399 });
    expect(loads).not.toMeetBudget({ firstPaintMs: 599 });
    expect(loads[2]!).not.toMeetBudget({ loadTimeMs: 8999 });
  });

  it('is reported with the interval of the median', () => {
    const wrong = () =>
      expect(loadsOf(2000, 2400, 9000)).toMeetBudget({ loadTimeMs: 2300, firstPaintMs: 600 });
    // Both other loads on one side of the true median: 2 of 8 cases.
    base(wrong).toThrow(
      'app, cable, natural: 3 loads over the budget:\n  load time: median 2400 ms, 2000 to 9000 ms (75%), at most 2300 ms',
    );
    const [alone] = judgeLoads(loadsOf(2000), { loadTimeMs: 3000 });
    base(showLoadJudgement(alone!)).toBe('load time: median 2000 ms, at most 3000 ms');
  });

  it('has predicted shares', () => {
    const judged = judgeLoads(loadsOf(2000), { originsOnBest: 0.5, gainLeft: 0.5 });
    base(judged.map(({ figure, interval, isBreach }) => [figure, interval, isBreach])).toEqual([
      ['originsOnBest', null, false],
      ['gainLeft', null, false],
    ]);
    base(showLoadJudgement({ ...judged[0]!, value: 0.75 })).toBe(
      'origins on their best protocol: 75% (predicted), at least 50%',
    );
  });

  it('refuses what it cannot judge', () => {
    const [load] = loadsOf(2000);
    base(() => judgeLoads([], { loadTimeMs: 1 })).toThrow('expected at least one load, got none');
    base(() => judgeLoads([load!], {})).toThrow(/expected at least one limit of loadTimeMs/);
    base(() => judgeLoads([load!], { loadTime: 3 } as never)).toThrow(
      'loadTime: expected no entry of this name',
    );
    base(() => judgeLoads([load!, { ...load!, protocol: 'h1' }], { loadTimeMs: 1 })).toThrow(
      'expected loads of app, cable, natural, got one of app, cable, h1',
    );
    base(() => judgeLoads([{ ...load!, fcpMs: null }], { firstPaintMs: 1 })).toThrow(
      'expected a first paint',
    );
  });
});

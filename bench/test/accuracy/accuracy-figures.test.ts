import { toNetworkPath } from '@hopwise/lab/client/networks';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import type { Protocol } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { judgeLoads } from '../../../lab/src/judge/cell-loads.ts';
import { GIVE_UP_MS } from '../../../lab/src/judge/regret.ts';
import { failedLoad, loadOf, NETWORK, page } from '../../../lab/test/support/measured-loads.ts';
import { scoreAssigned } from '../../src/accuracy/assigned.ts';
import type { Cell } from '../../src/accuracy/cells.ts';
import { calibrationOf, figuresOf, intervalsOf } from '../../src/accuracy/figures.ts';
import type { Guess } from '../../src/accuracy/guess.ts';
import { scoreCell } from '../../src/accuracy/scores.ts';
import { tuningGroups } from '../../src/accuracy/tuning.ts';

/** A cell with loads of each protocol by seed, from 1 on; without h3 loads and with `blocked`, h3 is unreachable. */
function cellOf(
  times: Partial<Record<ProtocolMode, number[]>>,
  { blocked = false, name = 'page', network = 'net', recorded = [1] } = {},
): Cell {
  const loads = Object.entries(times).flatMap(([protocol, all]) =>
    all.map((time, index) => loadOf(protocol as ProtocolMode, index + 1, time, { page: name, network })),
  );
  if (blocked) loads.push({ ...failedLoad('h3', 1), page: name, network });
  const link = { ...NETWORK, udp: blocked ? ('blocked' as const) : ('open' as const) };
  const cell = judgeLoads(loads, { [network]: { title: '', network: link } }).cells[0]!;
  return {
    page: name,
    network,
    link,
    path: toNetworkPath(link),
    loads: cell,
    recorded: recorded.map((seed) => ({ seed, recording: page, judgingSeeds: cell.seeds })),
    earlier: [],
    recordedUnder: 'natural',
  };
}

const guess = (h1: number, h2: number, h3: number, best: Protocol, stated?: Guess['stated']): Guess => ({
  pltMs: { h1, h2, h3 },
  best,
  elapsedMs: 1,
  ...(stated && { stated }),
});

const quiet = cellOf({
  h1: [1000, 1000, 1000, 1000],
  h2: [800, 800, 800, 800],
  h3: [400, 400, 400, 400],
  natural: [600, 600, 600, 600],
});

describe('scores', () => {
  it('gives errors, ratios, order and regret of a prediction', () => {
    const score = scoreCell(quiet, { lantern: [guess(1100, 720, 500, 'h2')] });
    const { errors, ratioErrors, order, medians } = score.predictors.lantern!;
    expect(errors.h1[0]).toBeCloseTo(0.1);
    expect(errors.h2[0]).toBeCloseTo(0.1);
    expect(errors.h3[0]).toBeCloseTo(0.25);
    expect(ratioErrors.h1[0]).toBeCloseTo(1100 / 720 - 1.25);
    expect(ratioErrors.h3[0]).toBeCloseTo(500 / 720 - 0.5);
    expect(order[0]).toBeCloseTo(1);
    expect(medians).toEqual({ h1: 1100, h2: 720, h3: 500 });
    expect(score.choosers.lantern).toEqual({ regret: 1, notLoading: 0, right: 0, halfRegret: 1 });
    expect(score.choosers.alwaysH3).toMatchObject({ regret: 0, right: 1 });
    expect(score.choosers.alwaysH1!.regret).toBeCloseTo(1.5);
    expect(score.choosers.natural!.regret).toBeCloseTo(0.5);
    expect(score.choosers.natural!.right).toBeNull();
  });

  it('judges a choice that does not load the page by the browser’s fallback, for every chooser alike, and counts it', () => {
    const times = { h1: [1000, 1000], h2: [800, 800], natural: [880, 880] };
    const score = scoreCell(cellOf(times, { blocked: true }), { lantern: [guess(900, 950, 700, 'h3')] });
    for (const chooser of ['lantern', 'alwaysH3'] as const) {
      expect(score.choosers[chooser]).toMatchObject({ notLoading: 1, right: 0 });
      expect(score.choosers[chooser]!.regret).toBeCloseTo(0.1);
    }
    expect(score.choosers.h3UnlessHindered).toMatchObject({ regret: 0, notLoading: 0, right: 1 });
    expect(score.predictors.lantern!.errors.h3).toEqual([]);
    const figures = figuresOf([score]).choosers.alwaysH3!;
    expect(figures).toMatchObject({ cells: 1, notLoading: 1 });
    expect(figures.regret.mean).toBeCloseTo(0.1);

    const unmeasured = scoreCell(cellOf({ h1: [1000], h2: [800] }, { blocked: true }), {});
    expect(unmeasured.choosers.alwaysH3!.regret).toBeCloseTo(GIVE_UP_MS / 800);
    expect(unmeasured.choosers.natural).toBeUndefined();
  });

  it('judges predictions from a forced load by loads of other seeds', () => {
    const cell = cellOf({ h1: [100, 1000], h2: [200, 500] });
    cell.recorded[0]!.judgingSeeds = [2];
    const score = scoreCell(cell, { lantern: [guess(1000, 500, 1, 'h2')] });
    expect(score.predictors.lantern!.errors).toMatchObject({ h1: [0], h2: [0] });
    expect(score.choosers.lantern).toMatchObject({ regret: 0, right: 1 });
  });

  it('chooses among the measured protocols', () => {
    const untried = cellOf({ h1: [1000], h2: [800] });
    const score = scoreCell(untried, { lantern: [guess(900, 950, 700, 'h3')] });
    // Between h1 and h2 it chooses h1.
    expect(score.choosers.lantern!.regret).toEqual(0.25);
    expect(score.choosers.alwaysH3).toBeUndefined();
  });

  it('compares stated confidence and ranges with measurements', () => {
    const range = (pltMs: number) => ({ pltMs, low: pltMs - 50, high: pltMs + 50 });
    const stated = {
      confidence: 0.92,
      decided: true,
      ranges: { h1: range(1000), h2: range(900), h3: range(440) },
    };
    const right = guess(1000, 900, 440, 'h3', stated);
    const wrong = guess(1000, 900, 440, 'h2', { ...stated, confidence: 0.94 });
    const cell = cellOf(
      { h1: [1000, 1000, 1000], h2: [800, 800, 800], h3: [400, 400, 400] },
      { recorded: [1, 2] },
    );
    const score = scoreCell(cell, { hopwiseGiven: [right, wrong] });
    const calibration = calibrationOf([score], 'hopwiseGiven')!;
    expect(calibration.bins).toMatchObject([{ from: 0.9, to: 0.95, predictions: 2 }]);
    expect(calibration.bins[0]!.wins).toBeCloseTo(0.5);
    expect(calibration.bins[0]!.stated).toBeCloseTo(0.93);
    expect(calibration.decided.predictions).toBe(2);
    expect(calibration.decided.wins).toBeCloseTo(0.5);
    expect(calibration.brier).toBeCloseTo((0.08 ** 2 + 0.94 ** 2) / 2);
    expect(calibration.brierFloor).toBeCloseTo(0);
    const coverage = figuresOf([score]).predictors.hopwiseGiven!.coverage!;
    expect(coverage.loads).toBeCloseTo(2 / 3);
    expect(coverage.medians).toBeCloseTo(2 / 3);
    const silent = scoreCell(quiet, { lantern: [guess(1, 1, 1, 'h1')] });
    expect(calibrationOf([silent], 'lantern')).toBeNull();
    expect(figuresOf([silent]).predictors.lantern!.coverage).toBeNull();
  });

  it('does not treat a noisy best protocol as certain', () => {
    // h1 and h2 only differ by chance.
    const torn = cellOf({ h1: [100, 300, 200, 150, 260], h2: [300, 100, 190, 260, 150] });
    const even = guess(200, 200, 200, 'h1', { confidence: 0.5, decided: false, ranges: {} });
    const { bins, brier, brierFloor } = calibrationOf(
      [scoreCell(torn, { hopwiseGiven: [even] })],
      'hopwiseGiven',
    )!;
    expect(bins[0]!.wins).toBeGreaterThan(0.2);
    expect(bins[0]!.wins).toBeLessThan(0.8);
    expect(brier).toBeCloseTo(0.25);
    expect(brierFloor).toBeGreaterThan(0.15);
  });
});

describe('figures', () => {
  const close = cellOf(
    { h1: [1000, 1000, 1000, 1000, 1000], h2: [900, 900, 900, 900, 900], h3: [890, 890, 890, 890, 890] },
    { name: 'close' },
  );
  const twice = cellOf(
    {
      h1: [1000, 1000, 1000, 1000, 1000],
      h2: [800, 800, 800, 800, 800],
      h3: [400, 400, 400, 400, 400],
      natural: [600],
    },
    { name: 'twice', recorded: [1, 2] },
  );
  const scores = [
    scoreCell(twice, { lantern: [guess(1000, 800, 400, 'h3'), guess(1000, 800, 480, 'h2')] }),
    scoreCell(close, { lantern: [guess(1000, 1080, 890, 'h3')] }),
    scoreCell(quiet, { lantern: [guess(2000, 800, 900, 'h2')] }),
  ];

  it('averages within cells first, then over cells', () => {
    const { choosers } = figuresOf(scores);
    // 0 and 1 in the first cell, 0 in the second, 1 in the third.
    expect(choosers.lantern!.regret.mean).toBeCloseTo((0.5 + 0 + 1) / 3);
    expect(choosers.lantern!.regret.p95).toBeCloseTo(0.95);
  });

  it('counts right choices where the best protocol leads by more than 5%, and where it is decided', () => {
    const { choosers } = figuresOf(scores);
    expect(choosers.lantern!.right).toEqual({ share: 0.25, cells: 2 });
    // With four seeds nothing is decided.
    expect(choosers.lantern!.rightDecided).toEqual({ share: 0.5, cells: 1 });
    expect(choosers.natural!.right).toBeNull();
  });

  it('summarises errors by median and p90, and ranks over cells', () => {
    const { predictors } = figuresOf(scores);
    const { error, spearman } = predictors.lantern!;
    // The p95 of 0, 0, 0 and 1 lies between the last two.
    expect(error.h1!.median).toBe(0);
    expect(error.h1!.p90).toBeCloseTo(0.7);
    expect(error.h3!.median).toBeCloseTo(0.1);
    expect(spearman.h1).toBeNull();
    expect(spearman.h2).toBeCloseTo(1);
  });

  it('ranks within networks beside over all, where networks differ more than pages', () => {
    const cells = [1, 2, 3].flatMap((index) => [
      cellOf({ h1: [100 + index], h2: [50] }, { name: `p${index}`, network: 'fast' }),
      cellOf({ h1: [9000 + index], h2: [50] }, { name: `p${index}`, network: 'slow' }),
    ]);
    // The slow network is distinguished from the fast one, but every page on it is predicted wrongly.
    const answers = cells.map(({ loads }) => {
      const time = loads.pltMs.get('h1')!.get(1)!;
      return guess(time > 1000 ? 20_000 - time : 1000 - time, 50, 1, 'h2');
    });
    const all = cells.map((cell, index) => scoreCell(cell, { lantern: [answers[index]!] }));
    const { spearman, spearmanWithin } = figuresOf(all).predictors.lantern!;
    expect(spearman.h1).toBeGreaterThan(0.5);
    expect(spearmanWithin.h1).toBeCloseTo(-1);
  });

  it('gives intervals that hold the figure and repeat', () => {
    const intervals = intervalsOf(scores);
    const { estimate, low, high } = intervals.lantern!.regret!;
    expect(estimate).toBeCloseTo(0.5);
    expect(low).toBe(0);
    expect(high).toBe(1);
    expect(intervalsOf(scores)).toEqual(intervals);
    expect(intervals.natural!.right).toBeNull();
  });

  it('resamples pages with all of their cells', () => {
    // The same page on ten networks says no more about other pages than on one.
    const onMany = Array.from({ length: 10 }, () => scores).flat();
    expect(intervalsOf(onMany).lantern!.regret).toEqual(intervalsOf(scores).lantern!.regret);
    expect(intervalsOf(onMany.filter(({ page: name }) => name !== 'close')).lantern!.regret).toBeNull();
  });

  it('separates the pages that the emulator was tuned on', () => {
    const on = (name: string, network: string) =>
      scoreCell(cellOf({ h1: [2], h2: [1] }, { name, network }), {});
    const groups = tuningGroups([
      on('shop', 'lte'),
      on('new', 'lte'),
      on('new', 'satellite'),
      on('app', 'satellite'),
    ]);
    expect(groups.tunedPages.map(({ page: name }) => name)).toEqual(['shop', 'app']);
    expect(groups.otherPages).toHaveLength(2);
    expect(groups.otherPagesOnOtherNetworks.map(({ network }) => network)).toEqual(['satellite']);
  });
});

describe('assignments', () => {
  const mixed = { 'https://a.test': 'h2', 'https://b.test': 'h3' } as const;
  const uniform = { 'https://a.test': 'h2', 'https://b.test': 'h2' } as const;
  const cellWith = (...assigned: [assignment: Record<string, Protocol>, times: number[]][]): Cell => {
    const cell = cellOf({ h1: [1000, 2000, 3000], h2: [800, 1600, 2400] });
    const loads = [
      ...cell.loads.sound,
      ...assigned.flatMap(([assignment, times]) =>
        times.map((time, index) => loadOf('assigned', index + 1, time, { assignment })),
      ),
    ];
    return { ...cell, loads: judgeLoads(loads, { net: { title: '', network: cell.link } }).cells[0]! };
  };

  it('compares over common seeds, resampled together', async () => {
    const { scores } = await scoreAssigned([cellWith([mixed, [720, 1440]])], async () => 0.95);
    expect(scores).toMatchObject([{ seeds: 2, predictedRatio: 0.95, assignment: mixed }]);
    const { estimate, low, high } = scores[0]!.measuredRatio;
    for (const ratio of [estimate, low, high]) expect(ratio).toBeCloseTo(0.9);
  });

  it('leaves out assignments with a single protocol, and counts them', async () => {
    const { scores, leftOut } = await scoreAssigned([cellWith([uniform, [1, 1, 1]])], async () => 1);
    expect(scores).toEqual([]);
    expect(leftOut).toEqual({ uniform: 1, notLoading: 0, unpaired: 0 });
  });
});

import type { Protocol } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import type { Cell } from '../src/accuracy/cells.ts';
import { calibrationOf, figuresOf, intervalsOf } from '../src/accuracy/figures.ts';
import type { Guess } from '../src/accuracy/guess.ts';
import { splitsOf, truthOf } from '../src/accuracy/measured.ts';
import { scoreCell } from '../src/accuracy/scores.ts';
import { toNetworkPath } from '../src/lab/networks.ts';
import type { TruthProtocol } from '../src/truth/loads.ts';
import { NETWORK, page } from './accuracy-folder.ts';

/** A cell with the same loads, by seed, of each protocol. */
function cellOf(times: Partial<Record<TruthProtocol, number[]>>, more: Partial<Cell> = {}): Cell {
  return {
    page: 'page',
    network: 'net',
    path: toNetworkPath(NETWORK),
    pltMs: new Map(
      Object.entries(times).map(([protocol, all]) => [
        protocol as TruthProtocol,
        new Map(all.map((time, index) => [index + 1, time])),
      ]),
    ),
    unavailable: [],
    assigned: [],
    recorded: [{ seed: 1, recording: page }],
    recordedUnder: 'natural',
    ...more,
  };
}

const guess = (h1: number, h2: number, h3: number, best: Protocol, stated?: Guess['stated']): Guess => ({
  pltMs: { h1, h2, h3 },
  best,
  elapsedMs: 1,
  ...(stated && { stated }),
});

const quiet = cellOf({
  h1: [1000, 1000, 1000],
  h2: [800, 800, 800],
  h3: [400, 400, 400],
  natural: [600, 600, 600],
});

describe('truth', () => {
  it('ranks by medians and says by how much the best one leads', () => {
    expect(truthOf(quiet)).toEqual({
      medians: { h1: 1000, h2: 800, h3: 400 },
      naturalMs: 600,
      best: 'h3',
      bestMs: 400,
      lead: 1,
      agreement: 1,
    });
  });

  it('does not agree with itself where loads scatter more than protocols differ', () => {
    const noisy = cellOf({ h1: [100, 300, 200, 150, 260], h2: [300, 100, 190, 260, 150] });
    expect(truthOf(noisy).agreement).toBeLessThan(0.9);
  });

  it('judges by halves that share no seed', () => {
    // By h1's fast half of the seeds h2 looks bad, by the other half good.
    const torn = cellOf({ h1: [100, 1000], h2: [1000, 100] });
    const splits = splitsOf(torn);
    expect(splits.length).toBeGreaterThan(10);
    for (const { chosen, medians, bestMs } of splits) expect(medians[chosen]! / bestMs).toBe(10);
    expect(scoreCell(torn, {}).noise).toBe(9);
  });
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
    expect(score.choosers.lantern).toEqual({ regrets: [1], notLoading: 0, right: 0, halfRegret: 1 });
    expect(score.choosers.alwaysH3).toMatchObject({ regrets: [0], right: 1 });
    expect(score.choosers.alwaysH1!.regrets[0]).toBeCloseTo(1.5);
    expect(score.choosers.natural!.regrets[0]).toBeCloseTo(0.5);
  });

  it('counts a protocol that does not load the page apart', () => {
    const blocked = cellOf(
      { h1: [1000], h2: [800] },
      { unavailable: ['h3'], path: toNetworkPath({ ...NETWORK, udp: 'blocked' }) },
    );
    const score = scoreCell(blocked, { lantern: [guess(900, 950, 700, 'h3')] });
    expect(score.choosers.alwaysH3).toEqual({ regrets: [], notLoading: 1, right: 0, halfRegret: null });
    expect(score.choosers.lantern).toMatchObject({ regrets: [], notLoading: 1, right: 0 });
    expect(score.choosers.h3UnlessHindered).toMatchObject({ regrets: [0], right: 1 });
    expect(score.predictors.lantern!.errors.h3).toEqual([]);
    const figures = figuresOf([score]).choosers.alwaysH3!;
    expect(figures).toMatchObject({ regret: null, notLoading: 1 });
  });

  it('chooses among what was tried', () => {
    const untried = cellOf({ h1: [1000], h2: [800] });
    const score = scoreCell(untried, { lantern: [guess(900, 950, 700, 'h3')] });
    expect(score.choosers.lantern!.regrets).toEqual([0.25]);
    expect(score.choosers.alwaysH3).toBeUndefined();
  });

  it('holds stated confidence and ranges against what was measured', () => {
    const range = (pltMs: number) => ({ pltMs, low: pltMs - 50, high: pltMs + 50 });
    const stated = {
      confidence: 0.92,
      decided: true,
      ranges: { h1: range(1000), h2: range(900), h3: range(440) },
    };
    const right = guess(1000, 900, 440, 'h3', stated);
    const wrong = guess(1000, 900, 440, 'h2', { ...stated, confidence: 0.94 });
    const calibration = calibrationOf([scoreCell(quiet, { hopwiseGiven: [right, wrong] })], 'hopwiseGiven')!;
    expect(calibration.bins).toMatchObject([{ from: 0.9, to: 0.95, predictions: 2, right: 0.5 }]);
    expect(calibration.bins[0]!.stated).toBeCloseTo(0.93);
    expect(calibration.decided).toEqual({ predictions: 2, right: 0.5 });
    expect(calibration.brier).toBeCloseTo((0.08 ** 2 + 0.94 ** 2) / 2);
    expect(calibration.coverage.loads).toBeCloseTo(2 / 3);
    expect(calibration.coverage.medians).toBeCloseTo(2 / 3);
    expect(calibrationOf([scoreCell(quiet, { lantern: [guess(1, 1, 1, 'h1')] })], 'lantern')).toBeNull();
  });
});

describe('figures', () => {
  const close = cellOf({ h1: [1000, 1000], h2: [900, 900], h3: [890, 890] });
  const scores = [
    scoreCell(quiet, { lantern: [guess(1000, 800, 400, 'h3'), guess(1000, 800, 480, 'h3')] }),
    scoreCell(close, { lantern: [guess(1000, 1080, 890, 'h3')] }),
    scoreCell(quiet, { lantern: [guess(2000, 800, 900, 'h2')] }),
  ];

  it('counts right choices only where the best protocol leads by more than 5%', () => {
    const { choosers } = figuresOf(scores);
    expect(choosers.lantern!.right).toEqual({ share: 0.5, cells: 2 });
    expect(choosers.lantern!.rightDecided).toEqual({ share: 0.5, cells: 2 });
    expect(choosers.natural!.right).toBeNull();
    expect(choosers.lantern!.regret!.mean).toBeCloseTo(1 / 4);
  });

  it('sums errors up by median and p90, and ranks over cells', () => {
    const { predictors } = figuresOf(scores);
    const { error, spearman } = predictors.lantern!;
    // Of 0, 0, 0 and 1, between the last two.
    expect(error.h1!.median).toBe(0);
    expect(error.h1!.p90).toBeCloseTo(0.7);
    expect(error.h3!.median).toBeCloseTo(0.1);
    expect(spearman.h1).toBeNull();
    expect(spearman.h2).toBeCloseTo(1);
  });

  it('gives intervals that hold the figure and repeat', () => {
    const many = [...scores, ...scores, ...scores, ...scores];
    const intervals = intervalsOf(many);
    const [low, high] = intervals.lantern!.regret!;
    expect(low).toBeLessThan(0.25);
    expect(high).toBeGreaterThan(0.25);
    expect(intervalsOf(many)).toEqual(intervals);
    expect(intervals.natural!.right).toBeNull();
  });
});

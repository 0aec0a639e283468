import { groupBy } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { judgeDay } from '../../src/loop/day/day-table.ts';
import { drawDay } from '../../src/loop/day/draw-day.ts';
import { runDay } from '../../src/loop/day/run-day.ts';

const { signal } = new AbortController();
const PLAN = { split: 'train', seed: 1, sites: 2, loads: 8, networks: ['fast', 'cable'] } as const;

test('a day changes between its networks, and visits pages by Zipf’s law', () => {
  const day = drawDay({ ...PLAN, sites: 10, loads: 400 });
  expect([0, 99, 100, 199, 200, 399].map((index) => day[index]!.network)).toEqual([
    ...['fast', 'fast', 'cable', 'cable', 'fast', 'cable'],
  ]);
  const visits = [...groupBy(day, ({ visit }) => visit.cell.name).values()].map(({ length }) => length);
  // The sum of 1/r up to 10 is 2.93: 137 visits of the first page, 14 of the last one.
  expect(Math.max(...visits)).toBeGreaterThan(110);
  expect(Math.max(...visits)).toBeLessThan(165);
  expect(visits.length).toBe(10);
  expect(Math.min(...visits)).toBeLessThan(30);
  expect(day.every(({ beganMs }, index) => index === 0 || beganMs > day[index - 1]!.beganMs)).toBe(true);
});

test('light loads are learned until they tell nothing new, those in detail all', async () => {
  const countsOf = async (arm: Parameters<typeof runDay>[0]) => {
    const { loads, detailed, learned } = judgeDay('fast>cable', arm, await runDay(arm, PLAN, signal));
    return { loads, detailed, learned };
  };
  const light = await countsOf('light');
  expect(light).toMatchObject({ loads: 8, detailed: 0 });
  // The first two on each network.
  expect(light.learned).toBeGreaterThanOrEqual(4);
  expect(light.learned).toBeLessThan(8);
  expect(await countsOf('all-detail')).toEqual({ loads: 8, detailed: 8, learned: 8 });
});

test('load times are set beside the browser alone and beside the better of it and HTTP/2', () => {
  const load = { offMs: 2_000, h2Ms: 1_000, isRecorded: true, isDetailed: false, isLearned: false };
  const figures = judgeDay('cable', 'light', [
    { ...load, isRecorded: false, pltMs: 1_000 },
    { ...load, pltMs: 4_000, isLearned: true },
  ]);
  expect(figures).toMatchObject({ loads: 2, recorded: 1, detailed: 0, learned: 1, waiting: 0.25 });
  // √(1/2 · 2) and √(1 · 4).
  expect(figures.againstOff).toBeCloseTo(0, 9);
  expect(figures.againstReachable).toBeCloseTo(1, 9);
});

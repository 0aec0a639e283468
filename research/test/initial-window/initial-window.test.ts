import { describe, expect, it } from 'vitest';
import { showLearned } from '../../src/initial-window/command.ts';
import { EXPERIMENTS } from '../../src/initial-window/experiments.ts';
import { judgeWindow } from '../../src/initial-window/judge-window.ts';
import { learnWindow, type WindowExchange } from '../../src/initial-window/learn-window.ts';

describe('learning', () => {
  it('finds the best window of each phase from the responses alone', async () => {
    // 30 is best at first and at the end; between, the queue is too short for it.
    const fast: Record<number, number> = { 10: 100, 15: 90, 20: 80, 25: 70, 30: 60 };
    const short: Record<number, number> = { 10: 150, 15: 140, 20: 200, 25: 250, 30: 300 };
    const exchanges = await learnWindow(EXPERIMENTS[0]!, 60, 7, async (window, phase) =>
      phase === 1 ? short[window]! : fast[window]!,
    );
    const figures = judgeWindow(exchanges);
    expect(figures.map(({ window }) => window)).toEqual([30, 15, 30]);
    // Five windows, each tried five times.
    expect(figures[0]!.untilLearned).toBe(25);
    expect(figures[0]!.learned!.gain).toBeCloseTo(0.4, 9);
    for (const { untilLearned } of figures) expect(untilLearned).toBeLessThan(45);
    const text = showLearned([{ name: 'rate', source: 'Figure 7', phases: figures }]);
    expect(text).toMatch(/rate \(TCP WISE, Figure 7\) +1 +30 +25 +60 +100 +40\.0%/);
  });
});

it('takes the 80th percentile by the nearest rank, and of what follows the last trial', () => {
  const exchange = (index: number, more: Partial<WindowExchange> = {}): WindowExchange => ({
    phase: 0,
    window: 20,
    reason: 'best',
    ms: index,
    usualMs: 2 * index,
    ...more,
  });
  const [figures] = judgeWindow([
    exchange(9, { reason: 'trial', window: 30 }),
    ...[1, 2, 3, 4, 5].map((index) => exchange(index)),
  ]);
  // The fourth of five, and the fifth of six.
  expect(figures).toMatchObject({
    window: 20,
    untilLearned: 1,
    learned: { p80Ms: 4, usualP80Ms: 8, gain: 0.5 },
  });
  expect(figures!.all).toMatchObject({ p80Ms: 5, usualP80Ms: 10 });
});

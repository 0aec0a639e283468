import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { page } from '../../lab/test/measured-loads.ts';
import { DecisionLoop } from '../src/loop/decision-loop.ts';
import { judgeLoop } from '../src/loop/judge-loop.ts';
import { showLoop } from '../src/loop/loop-table.ts';
import { scheduleOf } from '../src/loop/schedule.ts';
import { addStep, readSteps, type Step } from '../src/loop/store.ts';

const step = (index: number, more: Partial<Step> = {}): Step => ({
  step: index,
  key: 'home',
  network: 'cable',
  arm: 'natural',
  reason: 'best',
  ms: 1_000,
  naturalMs: 1_000,
  reference: null,
  disturbed: 0,
  predicted: null,
  ...more,
});

it('spreads its phases evenly over the loads', () => {
  const networks = scheduleOf(10).map(({ network }) => network);
  expect(networks.slice(0, 3)).toEqual(['cable', 'cable', 'cable']);
  expect(new Set(networks)).toEqual(new Set(['cable', 'udp-policed', 'lossy']));
  expect(scheduleOf(4).map(({ key }) => key)).toEqual(['home', 'home', 'train', 'home again']);
});

describe('figures', () => {
  const reference = { natural: 4_000, h1: 1_000, h2: 800, h3: 6_000 };
  const policed = { network: 'udp-policed', naturalMs: 4_000 };
  const steps = [
    step(0, { reference: { natural: 1_000, h1: 1_500, h2: 1_200, h3: 900 } }),
    step(1),
    step(2, { ...policed, ms: 4_000, reference }),
    step(3, { ...policed, ms: 1_000, arm: 'h1', reason: 'trial' }),
    ...[4, 5, 6].map((index) => step(index, { ...policed, ms: 800, arm: 'h2' })),
    step(7, { ...policed, ms: 1_000, arm: 'h1', reason: 'explore' }),
  ];
  const figures = judgeLoop(steps);

  it('compare the loop with the browser’s own choice, fixed protocols and the best one of each phase', () => {
    // (2 · 1,000 + 4,000 + 1,000 + 3 · 800 + 1,000) over (2 · 1,000 + 6 · 4,000)
    expect(figures.ratio.estimate).toBeCloseTo(10_400 / 26_000, 9);
    expect(figures.fixed.h2).toBeCloseTo((2 * 1_200 + 6 * 800) / 26_000, 9);
    expect(figures.oracle).toBeCloseTo((2 * 900 + 6 * 800) / 26_000, 9);
  });

  it('have an interval for each phase, and one for all whose draws keep the phases’ lengths', () => {
    const [cable, policed] = figures.phases;
    expect(cable!.ratio).toEqual({ estimate: 1, low: 1, high: 1 });
    // (4,000 + 1,000 + 3 · 800 + 1,000) over 6 · 4,000; six draws of the fastest take 800 each, of the slowest 4,000.
    expect(policed!.ratio.estimate).toBeCloseTo(8_400 / 24_000, 9);
    expect(policed!.ratio.low).toBeGreaterThanOrEqual(800 / 4_000);
    expect(policed!.ratio.high).toBeLessThanOrEqual(1);
    // The two loads on cable vary by nothing, so only those on the policed link do.
    expect(figures.ratio.low).toBeGreaterThanOrEqual((2_000 + 6 * 800) / 26_000);
    expect(figures.ratio.low).toBeLessThan(figures.ratio.estimate);
  });

  it('take the mean of the browser’s own choice over all loads, as every step has one', () => {
    const own = [
      step(0, { naturalMs: 900, reference: { natural: 900, h2: 950 } }),
      step(1, { naturalMs: 1_100 }),
    ];
    const [phase] = judgeLoop(own).phases;
    expect(phase!.armsMs).toEqual({ natural: 1_000, h2: 950 });
    expect(phase!.best).toBe('h2');
  });

  it('say when the best arm was found, and what exploring took', () => {
    // Of the first phase no three loads in turn used an arm within 10% of 900 ms.
    expect(figures.phases.map(({ best, untilBest }) => [best, untilBest])).toEqual([
      ['h3', null],
      ['h2', 2],
    ]);
    // 1,000 beside the mean of the phase's other chosen loads, (4,000 + 3 · 800) / 4.
    expect(figures.explored).toEqual({ loads: 1, share: 0 });
    // The trial of HTTP/1.1 took 1,000, the best arm takes 800.
    expect(figures.trials).toEqual({ loads: 1, share: (1_000 - 800) / 10_400 });
    const dear = judgeLoop([
      ...steps.slice(0, 7),
      step(7, { ...policed, ms: 3_000, arm: 'h1', reason: 'explore' }),
    ]);
    expect(dear.explored.share).toBeCloseTo((3_000 - 1_600) / 12_400, 9);
  });

  it('are shown in lines of at most 200 characters', () => {
    const text = showLoop(figures);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(200);
    expect(text).toContain('−60.0%');
    expect(text).toMatch(
      /home: udp-policed +6 +1\.40 s +−65\.0% \(−\S+% to −\S+%\) +4\.00 s +1\.00 s +0\.80 s +6\.00 s +HTTP\/2 +2/,
    );
  });
});

describe('the loop', () => {
  const load = { ...page, pltMs: 400 };

  it('records the browser’s own choice first on each network, then chooses by what is predicted', () => {
    const loop = new DecisionLoop(1);
    const first = loop.choose('home', 0);
    expect(first).toEqual({ arm: 'natural', reason: 'first' });
    const predicted = loop.predictArms(load);
    expect(predicted.map(({ name }) => name)).toEqual(['natural', 'h1', 'h2', 'h3']);
    loop.note(first, 0, 400, predicted);
    expect(loop.choose('home', 1).reason).not.toBe('first');
    expect(loop.choose('train', 2)).toEqual({ arm: 'natural', reason: 'first' });
  });

  it('goes on as it would have after an interruption', () => {
    const run = (loop: DecisionLoop, from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => {
        const choice = loop.choose('home', from + index);
        const predicted = choice.reason === 'first' ? loop.predictArms(load) : null;
        loop.note(choice, from + index, choice.arm === 'h2' ? 350 : 420, predicted);
        return { choice, predicted };
      });
    const whole = run(new DecisionLoop(3), 0, 40);
    const again = new DecisionLoop(3);
    for (const [index, { choice, predicted }] of whole.slice(0, 17).entries()) {
      again.choose('home', index);
      again.note(choice, index, choice.arm === 'h2' ? 350 : 420, predicted);
    }
    expect(run(again, 17, 40)).toEqual(whole.slice(17));
  });
});

describe('the store', () => {
  const setting = { page: 'app', loads: 8, seed: 1 };
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hopwise-loop-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('keeps steps, and leaves out one that was cut off', async () => {
    expect(await readSteps(dir, setting)).toEqual([]);
    await addStep(dir, step(0));
    await addStep(dir, step(1));
    const file = join(dir, 'loop.jsonl');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.slice(0, -5));
    expect(await readSteps(dir, setting)).toEqual([step(0)]);
    await addStep(dir, step(1));
    expect(await readSteps(dir, setting)).toEqual([step(0), step(1)]);
  });

  it('refuses other settings and unreadable lines, naming the place', async () => {
    await readSteps(dir, setting);
    await expect(readSteps(dir, { ...setting, seed: 2 })).rejects.toThrow(/--seed 1, expected 2/);
    await addStep(dir, { ...step(0), ms: 'x' as unknown as number });
    await expect(readSteps(dir, setting)).rejects.toThrow(/loop\.jsonl, line 2: ms: /);
  });
});

import { quantile } from '@hopwise/contract';
import { describe, expect, it } from 'vitest';
import { createRandom, normal } from '../../../pageload-emulator/src/util/random.ts';
import { Explorer } from '../../src/explore/explorer.ts';

type Scatter = (random: () => number) => number;

/** How load times scatter, as factors of the usual one. */
const SCATTERS: Record<string, Scatter> = {
  'hardly any': (random) => Math.exp(0.05 * normal(random)),
  "the lab's, with 3% of loads disturbed": (random) =>
    Math.exp(0.09 * normal(random)) * (random() < 0.03 ? 1.6 : 1),
  wide: (random) => Math.exp(0.2 * normal(random)),
  'very wide': (random) => Math.exp(0.5 * normal(random)),
  'with a timeout in one of ten': (random) => Math.exp(0.05 * normal(random)) * (random() < 0.1 ? 3 : 1),
  exponential: (random) => 1 - 0.3 * Math.log(1 - random()),
};
/** In 10,000 loads. */
const MAX_FALSE_ALARMS = 30;
const SEEDS = [1, 2, 3, 4];
const LOADS = 1250;

/** A cluster of one arm whose loads take a factor of the usual time. */
class Cluster {
  readonly #explorer = new Explorer();
  readonly #scatter: Scatter;
  readonly #random: () => number;
  resets = 0;

  constructor(scatter: Scatter, seed: number) {
    this.#scatter = scatter;
    this.#random = createRandom(seed);
  }

  /** @returns loads until a change was seen, at most so many */
  load(factor: number, loads: number): number {
    const question = {
      clusters: ['a'],
      scaleMs: 100,
      arms: [{ name: 'arm', predicted: null }],
      objective: 'p80' as const,
      minGain: 0,
      random: this.#random,
    };
    for (let load = 1; load <= loads; load++) {
      const before = this.#explorer.clusters.get('a')?.trials ?? 0;
      this.#explorer.note(
        question,
        { arm: 'arm', reason: 'best' },
        100 * factor * this.#scatter(this.#random),
      );
      if (this.#explorer.clusters.get('a')!.trials <= before) continue;
      this.resets++;
      return load;
    }
    return loads;
  }
}

/** Changes that are seen in 10,000 loads without any. */
function falseAlarms(scatter: Scatter): number {
  const resets = SEEDS.map((seed) => {
    const cluster = new Cluster(scatter, seed);
    for (let load = 0; load < LOADS; ) load += cluster.load(1, LOADS - load);
    return cluster.resets;
  });
  return (10_000 * resets.reduce((a, b) => a + b)) / (SEEDS.length * LOADS);
}

/** Loads until a change by a factor is seen. */
function delays(scatter: Scatter, factor: number): number[] {
  return SEEDS.flatMap((seed) =>
    [50, 60, 70, 80, 90].map((loads) => {
      const cluster = new Cluster(scatter, 100 * seed + loads);
      for (let load = 0; load < loads; ) load += cluster.load(1, loads - load);
      // A trial after a false alarm has to end first.
      return cluster.load(factor, 300);
    }),
  );
}

describe.each(Object.entries(SCATTERS))('scatter: %s', (_, scatter) => {
  it('is rarely taken for a change', () => {
    expect(falseAlarms(scatter)).toBeLessThanOrEqual(MAX_FALSE_ALARMS);
  });

  it('does not hide a change that is large beside it', () => {
    const [slower, faster] = [delays(scatter, 4), delays(scatter, 0.25)];
    expect(Math.max(quantile(slower, 0.9), quantile(faster, 0.9))).toBeLessThanOrEqual(8);
  });
});

it.each(['hardly any', "the lab's, with 3% of loads disturbed", 'wide', 'with a timeout in one of ten'])(
  'sees soon that loads take half as long again, with scatter: %s',
  (name) => expect(quantile(delays(SCATTERS[name]!, 1.5), 0.9)).toBeLessThanOrEqual(15),
);

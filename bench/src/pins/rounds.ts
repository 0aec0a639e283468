import { median, quantile } from '@hopwise/contract';
/** Ways to do one thing, measured in rounds that take turns, so that other work on the machine meets all alike. */

/** One figure a round, by the name of the way. */
export type RoundFigures = Map<string, number[]>;

/** Each round begins with another way, after one round that does not count. */
export async function rounds<W extends { name: string }>(
  ways: readonly W[],
  count: number,
  measure: (way: W) => Promise<number>,
): Promise<RoundFigures> {
  const figures: RoundFigures = new Map(ways.map(({ name }) => [name, []]));
  for (let round = -1; round < count; round++) {
    for (let turn = 0; turn < ways.length; turn++) {
      const way = ways[(round + 1 + turn) % ways.length]!;
      const figure = await measure(way);
      if (round >= 0) figures.get(way.name)!.push(figure);
    }
  }
  return figures;
}

/** @returns milliseconds that `run` takes at the median of `count` times, or of those that begin within `limitMs`. */
export async function medianTime(
  count: number,
  run: () => Promise<void>,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<number> {
  const times: number[] = [];
  const endMs = performance.now() + limitMs;
  while (times.length < count && performance.now() < endMs) {
    const startMs = performance.now();
    await run();
    times.push(performance.now() - startMs);
  }
  return median(times);
}

/**
 * Prints each way's milliseconds, and what each round took more than the direct one.
 *
 * @returns the latter's median, by the name of the way.
 */
export function printTimes(figures: RoundFigures): Map<string, number> {
  const added = new Map<string, number>();
  for (const [name, each] of figures) {
    const more = each.map((ms, round) => ms - figures.get('direct')![round]!);
    added.set(name, median(more));
    const beside = name === 'direct' ? '' : `, added ${spread(more, 3)}`;
    console.log(`    ${name.padEnd(12)}${spread(each, 3)}${beside}`);
  }
  return added;
}

export function verdict(met: boolean, target: string): void {
  console.log(`    ${met ? 'met   ' : 'MISSED'} ${target}`);
}

/** The median, and the 10th to the 90th percentile. */
export function spread(values: readonly number[], digits: number): string {
  const [low, middle, high] = [0.1, 0.5, 0.9].map((share) => quantile(values, share).toFixed(digits));
  return `${middle} (${low} to ${high})`;
}

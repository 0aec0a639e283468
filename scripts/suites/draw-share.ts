/** Shares of repetitive tests: `npm test` runs some cases of a table, `npm run test:long` all of them. */
import { createHash } from 'node:crypto';

/** What `npm test` tells the tests by the environment. */
export const SEED_VARIABLE = 'HOPWISE_TEST_SEED';
/** Set to `all`, every case runs. */
export const SHARE_VARIABLE = 'HOPWISE_TEST_SHARE';

/** @returns the number of random cases to try: `few` in `npm test`, `all` in `npm run test:long` */
export function countRuns(few: number, all: number): number {
  return process.env[SHARE_VARIABLE] === 'all' ? all : few;
}

/**
 * Draws the cases to run of a table whose cases test much the same, in their order. The draw depends on the run's seed, so that
 * other commits run other cases, and on the names, so that tables of equal length are drawn differently.
 *
 * @param count at least 1
 * @param nameOf unique within the table
 */
export function drawShare<T>(cases: readonly T[], count: number, nameOf: (each: T) => string = String): T[] {
  if (process.env[SHARE_VARIABLE] === 'all') return [...cases];
  const seed = process.env[SEED_VARIABLE] ?? '1';
  const rankOf = (each: T) =>
    createHash('sha256')
      .update(`${seed} ${nameOf(each)}`)
      .digest('hex');
  const drawn = new Set(cases.toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1)).slice(0, count));
  return cases.filter((each) => drawn.has(each));
}

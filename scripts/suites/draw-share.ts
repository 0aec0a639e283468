/** Shares of repetitive tests: `npm test` runs some cases of a table and some of the drawn files, `npm run test:long` all of them. */
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';

/** What `npm test` tells the tests by the environment. */
export const SEED_VARIABLE = 'HOPWISE_TEST_SEED';
/** Set to `all`, every case runs. */
export const SHARE_VARIABLE = 'HOPWISE_TEST_SHARE';
/** Files that Vitest's configuration leaves out, with `:` between them. Vitest's own `--exclude` does not apply to projects. */
export const LEFT_OUT_VARIABLE = 'HOPWISE_TEST_LEFT_OUT';

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

/** The part of the drawn files that a run of `npm test` has time for. */
const SHARE_OF_FILES = 1 / 6;

/**
 * Draws among the test files with `.drawn` in their names.
 *
 * @param pattern of files below the root of the repository
 * @returns paths of those that this run leaves out
 */
export function listUndrawnFiles(root: string, pattern: string): string[] {
  const files = globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }).toSorted();
  const drawn = new Set(drawShare(files, Math.ceil(SHARE_OF_FILES * files.length)));
  return files.filter((file) => !drawn.has(file));
}

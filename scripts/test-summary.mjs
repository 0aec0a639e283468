/** What the suites of `npm test` found, and the last lines that say so. */
import { stripVTControlCharacters } from 'node:util';

/**
 * Of a suite or a file. `failures` and `secondTries` (what failed at first and then passed) hold
 * `{ where, what, why }`: the file, the test's name, the error's message.
 */
export const newOutcome = () => ({ passed: 0, failed: 0, skipped: 0, failures: [], secondTries: [] });

/** Adds `more` to `outcome`. */
export function add(outcome, more) {
  for (const key of ['passed', 'failed', 'skipped']) outcome[key] += more[key];
  for (const key of ['failures', 'secondTries']) outcome[key].push(...more[key]);
  return outcome;
}

/** Lines that the last ones of a log, which is all that some show, have room for. */
const MOST_LINES = 24;

/** The last lines: each failed test with its file and error, how many tests needed a second try, and the counts. */
export function summaryOf({ passed, failed, skipped, failures, secondTries }) {
  const lines = [];
  if (secondTries.length > 0) lines.push('', 'passed at the second try:', ...listOf(secondTries));
  if (failures.length > 0) lines.push('', 'failed:', ...listOf(failures));
  const also = [`${secondTries.length} needed a second try`, ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return [...lines, '', also.join(', '), `${passed} passed, ${failed} failed`];
}

/** Two lines each, or one where there are many. */
function listOf(troubles) {
  const inOne = 2 * troubles.length > MOST_LINES;
  const shown = troubles.slice(0, troubles.length > MOST_LINES ? MOST_LINES - 1 : MOST_LINES);
  const lines = shown.flatMap(({ where, what, why }) => {
    const name = `  ${[where, what].filter(Boolean).join(' › ')}`;
    return inOne ? [cut(`${name}: ${inShort(why)}`)] : [cut(name), cut(`    ${inShort(why)}`)];
  });
  const left = troubles.length - shown.length;
  return left > 0 ? [...lines, `  and ${left} more`] : lines;
}

const cut = (line) => (line.length > 240 ? `${line.slice(0, 239)}…` : line);

/** The first lines of a message in one: the first alone may say no more than that two values differ. */
function inShort(message) {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.slice(0, 3).join(' · ') || 'says no reason';
}

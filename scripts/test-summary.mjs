/** What the suites of `npm test` found, and the last lines that say so. */
import { stripVTControlCharacters } from 'node:util';

/** Of a suite. `failures` holds `{ where, what, why }`: the file, the test's name, the error's message. */
export const newOutcome = () => ({ passed: 0, failed: 0, skipped: 0, failures: [] });

/** Adds `more` to `outcome`. */
export function add(outcome, more) {
  for (const key of ['passed', 'failed', 'skipped']) outcome[key] += more[key];
  outcome.failures.push(...more.failures);
  return outcome;
}

/** Lines of failures at most: some viewers show only the last lines of a log. */
const MAX_LINES = 24;

/** The last lines: each failed test with its file and error, and the counts. */
export function summaryOf({ passed, failed, skipped, failures }) {
  return [
    ...(failures.length > 0 ? ['', 'failed:', ...listOf(failures)] : []),
    '',
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    `${passed} passed, ${failed} failed`,
  ];
}

/** Two lines each, or one where there are many. */
function listOf(failures) {
  const inOne = 2 * failures.length > MAX_LINES;
  const shown = failures.slice(0, failures.length > MAX_LINES ? MAX_LINES - 1 : MAX_LINES);
  const lines = shown.flatMap(({ where, what, why }) => {
    const name = `  ${[where, what].filter(Boolean).join(' › ')}`;
    return inOne ? [cut(`${name}: ${inShort(why)}`)] : [cut(name), cut(`    ${inShort(why)}`)];
  });
  const left = failures.length - shown.length;
  return left > 0 ? [...lines, `  and ${left} more`] : lines;
}

const cut = (line) => (line.length > 240 ? `${line.slice(0, 239)}…` : line);

/** The first lines of a message in one: the first alone may say no more than that two values differ. */
function inShort(message) {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.slice(0, 3).join(' · ') || 'no reason given';
}

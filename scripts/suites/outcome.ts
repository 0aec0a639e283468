/** What the suites of `npm test` found, and the last lines that say so. */
import { stripVTControlCharacters } from 'node:util';

export interface Failure {
  /** The file, or an empty string. */
  where: string;
  /** The test's name. */
  what: string;
  /** The error's message. */
  why: string;
}

/** How long a file of tests took. */
interface FileTime {
  file: string;
  seconds: number;
  /** Processor time of its process and of the programs that it started and that have ended; null where it is not known. */
  processorSeconds: number | null;
}

/** The outcome of a suite. */
export interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  failures: Failure[];
  files: FileTime[];
}

export const newOutcome = (): Outcome => ({ passed: 0, failed: 0, skipped: 0, failures: [], files: [] });

/** The outcome of what failed as a whole, before or beside its tests. */
export const failedOutcome = (failure: Failure): Outcome => ({
  ...newOutcome(),
  failed: 1,
  failures: [failure],
});

/** Adds `more` to `outcome`. */
export function addOutcome(outcome: Outcome, more: Outcome): Outcome {
  for (const key of ['passed', 'failed', 'skipped'] as const) outcome[key] += more[key];
  outcome.failures.push(...more.failures);
  outcome.files.push(...more.files);
  return outcome;
}

/** Files in the list of the slowest. */
const SLOWEST = 8;

/** The slowest files with their processor time: the rest of their time they waited. */
export function describeSlowest({ files }: Outcome): string[] {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  if (slowest.length === 0) return [];
  return [
    'slowest files:',
    ...slowest.map(({ file, seconds, processorSeconds }) => {
      const processor = processorSeconds === null ? '' : `, processor ${processorSeconds.toFixed(0)} s`;
      return `  ${seconds.toFixed(0).padStart(4)} s${processor}  ${file}`;
    }),
  ];
}

/** Lines of failures at most: some viewers show only the last lines of a log. */
const MAX_LINES = 24;

/** The last lines: each failed test with its file and error, and the counts. */
export function describeOutcome({ passed, failed, skipped, failures }: Outcome): string[] {
  return [
    ...(failures.length > 0 ? ['', 'failed:', ...describeFailures(failures)] : []),
    '',
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    `${passed} passed, ${failed} failed`,
  ];
}

/** Two lines each, or one where there are many. */
function describeFailures(failures: readonly Failure[]): string[] {
  const inOneLine = 2 * failures.length > MAX_LINES;
  const shown = failures.slice(0, failures.length > MAX_LINES ? MAX_LINES - 1 : MAX_LINES);
  const lines = shown.flatMap(({ where, what, why }) => {
    const name = `  ${[where, what].filter(Boolean).join(' › ')}`;
    return inOneLine
      ? [cut(`${name}: ${shorten(why)}`, MAX_CHARACTERS)]
      : [cut(name, MAX_CHARACTERS), cut(`    ${shorten(why)}`, MAX_CHARACTERS_OF_REASON)];
  });
  const left = failures.length - shown.length;
  return left > 0 ? [...lines, `  and ${left} more`] : lines;
}

const MAX_CHARACTERS = 240;
/** Room for what a page showed, or for the properties that differ. */
const MAX_CHARACTERS_OF_REASON = 720;

const cut = (line: string, characters: number): string =>
  line.length > characters ? `${line.slice(0, characters - 1)}…` : line;

const MAX_LINES_OF_REASON = 12;

/** The first lines of a message in one: the first alone may say no more than that two values differ. */
function shorten(message: string): string {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.slice(0, MAX_LINES_OF_REASON).join(' · ') || 'no reason given';
}

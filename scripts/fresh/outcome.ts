/** How a command in a bare root ended. */

export interface Outcome {
  name: string;
  passed: number;
  failed: number;
  minutes: number;
  /** The last lines of a command that failed. */
  lastLines: string[];
}

/** Lines of a failure at most. */
const MAX_LINES = 30;

/**
 * The counts in the last line of `npm test`; of a command without counts, one for the command itself.
 *
 * @param printed the end of what it printed
 * @param isReported whether it left what it is to leave
 */
export function outcomeOf(
  printed: string,
  code: number,
  isReported: boolean,
): Pick<Outcome, 'passed' | 'failed' | 'lastLines'> {
  const counts = /^(\d+) passed, (\d+) failed$/m.exec(printed.trimEnd().split('\n').at(-1) ?? '');
  const isWell = code === 0 && isReported;
  const passed = counts ? Number(counts[1]) : Number(isWell);
  // A command that ends with an error has failed, whatever it counted.
  const failed = Math.max(counts ? Number(counts[2]) : 0, Number(!isWell));
  const lines = printed.trimEnd().split('\n');
  const from = Math.max(lines.lastIndexOf('failed:'), lines.length - MAX_LINES);
  return { passed, failed, lastLines: failed === 0 ? [] : lines.slice(from) };
}

export const failureLines = ({ name, lastLines }: Outcome): string[] =>
  lastLines.length === 0 ? [] : ['', `${name} failed:`, ...lastLines.map((line) => `  ${line}`)];

/** A table with one row a command. */
export function summaryLines(outcomes: readonly Outcome[]): string[] {
  const rows = outcomes.map(({ name, passed, failed, minutes }) => [
    name.padEnd(10),
    String(passed).padStart(7),
    String(failed).padStart(7),
    minutes.toFixed(1).padStart(8),
  ]);
  return [
    '',
    ['fresh'.padEnd(10), ' passed', ' failed', ' minutes'].join(' '),
    ...rows.map((row) => row.join(' ')),
  ];
}

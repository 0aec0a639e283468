/** What the commands write, and the exit codes that they end with. */
import { writeFileSync } from 'node:fs';

export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;
export const EXIT_INTERRUPTED = 130;

/** Writes to standard output, synchronously: the process may end right after this. */
export function print(text: string): void {
  writeFileSync(1, `${text}\n`);
}

export function note(text: string): void {
  process.stderr.write(`hopwise-host: ${text}\n`);
}

/** What the commands write, and the exit codes that they end with. */
import { writeFileSync } from 'node:fs';
import { removeUserinfoInText } from '@hopwise/contract';

export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;
export const EXIT_INTERRUPTED = 130;

/** Writes to standard output, synchronously: the process may end right after this. */
export function print(text: string): void {
  writeFileSync(1, `${text}\n`);
}

/** Writes a line to standard error, without the passwords of URLs: errors quote the input. */
export function note(text: string): void {
  process.stderr.write(`hopwise-host: ${removeUserinfoInText(text)}\n`);
}

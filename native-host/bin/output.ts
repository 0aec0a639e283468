/** What the commands write, and the exit codes that they end with. */
import { writeFileSync } from 'node:fs';
import { removeUserinfoInText } from '@hopwise/contract';
import { printable, printableJson, withoutCommands } from '@hopwise/contract/terminal';

export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;
export const EXIT_INTERRUPTED = 130;

/** Writes to standard output, synchronously: the process may end right after this. */
export function print(text: string): void {
  writeFileSync(1, `${withoutCommands(text)}\n`);
}

/** Prints a value as JSON. */
export function printJson(value: unknown, indent = 0): void {
  print(printableJson(JSON.stringify(value, null, indent)));
}

/** Writes a line to standard error, without the passwords of URLs, and what could steer a terminal: errors quote the input. */
export function note(text: string): void {
  const line = printable(removeUserinfoInText(text), Number.POSITIVE_INFINITY);
  process.stderr.write(`${withoutCommands(`hopwise-host: ${line}`)}\n`);
}

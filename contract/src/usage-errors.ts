/** Errors of command lines in the form of all other errors: the program, the place, what was expected. */
import { removeUserinfoInText } from './userinfo.ts';

/** What this needs of commander's `Command`, which is no dependency of this package. */
interface ReportingCommand {
  name(): string;
  readonly commands: readonly ReportingCommand[];
  configureOutput(how: { outputError: (text: string, write: (text: string) => void) => void }): unknown;
}

interface ErrorForm {
  /** What errors begin with; `hopwise` unless given. */
  program?: string;
  /** Returns the command that describes these subcommands; the command line with `--help` unless given. */
  help?: (subcommands: readonly string[]) => string;
}

/** Has commander report errors of a command and its subcommands in one line that ends with the command that shows the help. */
export function unifyErrors(
  command: ReportingCommand,
  {
    program = 'hopwise',
    help = (subcommands) => [command.name(), ...subcommands, '--help'].join(' '),
  }: ErrorForm = {},
  subcommands: readonly string[] = [],
): void {
  command.configureOutput({
    outputError: (text, write) =>
      write(`${program}: ${usageError(unknownCommand(command, text) ?? text)} (see ${help(subcommands)})\n`),
  });
  for (const sub of command.commands) {
    unifyErrors(sub, { program, help }, [...subcommands, sub.name()]);
  }
}

/** A word that is no command of a command that has some, and takes no other words: commander calls it one argument too many. */
function unknownCommand({ commands }: ReportingCommand, text: string): string | null {
  const [, word] =
    /^error: too many arguments.* Expected 0 arguments but got \d+: ([^,\s]+?)(?:,.*)?\.?\s*$/s.exec(text) ??
    [];
  return word === undefined || commands.length === 0 ? null : `unknown command '${word}'`;
}

/**
 * Refuses help on what is no command, for which commander would print all of the help.
 *
 * @param words the command line's
 */
export function refuseUnknownTopic(
  program: ReportingCommand & { error(message: string): never },
  [help, topic]: readonly string[],
): void {
  if (help !== 'help' || topic === undefined || topic.startsWith('-')) return;
  if (!program.commands.some((command) => command.name() === topic)) {
    program.error(`error: unknown command '${topic}'`);
  }
}

/** Commander's words for an error, as `--rtt: expected …` where a value is wrong; values are named once, without the passwords of URLs. */
export function usageError(text: string): string {
  const line = removeUserinfoInText(text)
    .split('\n')
    .map((words) => words.trim())
    .filter((words) => words !== '')
    .join(' ')
    .replace(/^error: /, '');
  const [, flags = '', value = '', reason = ''] =
    /^option '([^']*)' argument '(.*)' is invalid\. (.*)$/s.exec(line) ?? [];
  if (flags !== '') return `${longFlag(flags)}: ${withoutFullStop(expectation(reason, value))}`;
  const [, given = '', argument = '', why = ''] =
    /^command-argument value '(.*)' is invalid for argument '([^']*)'\. (.*)$/s.exec(line) ?? [];
  if (argument !== '') return `${argument}: ${withoutFullStop(expectation(why, given))}`;
  return withoutFullStop(
    describeSurplus(line) ?? line.replaceAll(/'(--?[a-z][a-z-]*)( <[^>]*>| \[[^\]]*\])?'/g, '$1'),
  );
}

/** `doctor: expected no arguments, got now` of commander's words for too many arguments; null for another error. */
function describeSurplus(line: string): string | null {
  const [, command, most, count, words] =
    /^too many arguments(?: for '([^']*)')?\. Expected (\d+) arguments? but got (\d+): (.*)$/s.exec(line) ??
    [];
  if (most === undefined) return null;
  const place = command === undefined ? '' : `${command}: `;
  if (most === '0') return `${place}expected no arguments, got ${words}`;
  return `${place}expected at most ${most} ${most === '1' ? 'argument' : 'arguments'}, got ${count}: ${words}`;
}

/** `--rtt` of `-r, --rtt <ms>`. */
const longFlag = (flags: string): string => /--[a-z0-9-]+/.exec(flags)?.[0] ?? flags;

const withoutFullStop = (text: string): string => text.replace(/\.$/, '');

/** What was expected and what came, whether or not the reason repeats the value. */
function expectation(reason: string, value: string): string {
  const [, choices] = /^Allowed choices are (.*?)\.?$/.exec(reason) ?? [];
  const expected = choices === undefined ? reason : `expected one of ${choices}`;
  return /, got /.test(expected) ? expected : `${withoutFullStop(expected)}, got ${JSON.stringify(value)}`;
}

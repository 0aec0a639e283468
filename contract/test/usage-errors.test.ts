import { describe, expect, it } from 'vitest';
import {
  readingProblem,
  refuseUnknownTopic,
  unifyErrors,
  usageError,
  writingProblem,
} from '../src/command-line.ts';

describe('an error of a command line', () => {
  it.each([
    [
      "error: option '--rtt <ms>' argument 'x' is invalid. expected milliseconds from 0 to 60000, got \"x\"",
      '--rtt: expected milliseconds from 0 to 60000, got "x"',
    ],
    [
      "error: option '--model <name>' argument 'x' is invalid. Allowed choices are hopwise, econ.",
      '--model: expected one of hopwise, econ, got "x"',
    ],
    [
      "error: option '-n, --rounds <n>' argument '0' is invalid. expected a whole number from 1 to 20",
      '--rounds: expected a whole number from 1 to 20, got "0"',
    ],
    [
      "error: command-argument value 'x' is invalid for argument 'url'. expected an https:// URL",
      'url: expected an https:// URL, got "x"',
    ],
    ["error: unknown option '--jsn'\n(Did you mean --json?)", 'unknown option --jsn (Did you mean --json?)'],
    ["error: required option '--budget <file>' not specified", 'required option --budget not specified'],
    ["error: option '--rtt <ms>' argument missing", 'option --rtt argument missing'],
    ['error: --learn needs --cluster', '--learn needs --cluster'],
    [
      "error: too many arguments for 'doctor'. Expected 0 arguments but got 1: now.",
      'doctor: expected no arguments, got now',
    ],
    [
      "error: too many arguments for 'papers'. Expected 1 argument but got 3: a.csv, b.csv, c.csv.",
      'papers: expected at most 1 argument, got 3: a.csv, b.csv, c.csv',
    ],
    [
      'error: too many arguments. Expected 2 arguments but got 3: a, b, c.',
      'expected at most 2 arguments, got 3: a, b, c',
    ],
  ])('%j is %j', (text, line) => {
    expect(usageError(text)).toBe(line);
  });
});

/** A command, as far as errors concern it, and what it writes about one. */
function commandOf(...names: string[]) {
  let report = (_text: string, _write: (text: string) => void): void => {};
  const command = (name: string, commands: Command[] = []): Command => ({
    name: () => name,
    commands,
    configureOutput: ({ outputError }) => {
      if (name === 'tool') report = outputError;
    },
  });
  const tool = command(
    'tool',
    names.map((name) => command(name)),
  );
  const write = (text: string): string => {
    let written = '';
    report(text, (line) => {
      written += line;
    });
    return written;
  };
  return { tool, write };
}
type Command = Parameters<typeof unifyErrors>[0];

describe('a word that is no command', () => {
  it.each([
    ['error: too many arguments. Expected 0 arguments but got 1: fly.', "unknown command 'fly'"],
    ['error: too many arguments. Expected 0 arguments but got 2: fly, high.', "unknown command 'fly'"],
  ])('is called so where there are commands: %s', (text, line) => {
    const { tool, write } = commandOf('go');
    unifyErrors(tool);
    expect(write(text)).toBe(`hopwise: ${line} (see tool --help)\n`);
  });

  it('is an argument too many where there are none', () => {
    const { tool, write } = commandOf();
    unifyErrors(tool);
    expect(write('error: too many arguments. Expected 0 arguments but got 1: fly.')).toBe(
      'hopwise: expected no arguments, got fly (see tool --help)\n',
    );
  });

  it('has no help', () => {
    const { tool } = commandOf('go');
    const refusals: string[] = [];
    const program = {
      ...tool,
      error: (message: string): never => {
        refusals.push(message);
        return undefined as never;
      },
    };
    for (const words of [['help', 'fly'], ['help', 'go'], ['help'], ['go', 'fly']])
      refuseUnknownTopic(program, words);
    expect(refusals).toEqual(["error: unknown command 'fly'"]);
  });
});

describe('a file that cannot be used', () => {
  it.each([
    ['ENOENT', 'but there is none', 'but its folder is missing'],
    ['EISDIR', 'but it is a folder', 'but it is a folder'],
    ['EACCES', 'but reading it is not permitted', 'but writing it is not permitted'],
    ['EXDEV', 'got EXDEV', 'got EXDEV'],
  ])('with %s says so in plain words', (code, reading, writing) => {
    const error = Object.assign(new Error('failed'), { code });
    expect([readingProblem(error), writingProblem(error)]).toEqual([reading, writing]);
  });

  it('without a code is described by the error itself', () => {
    expect(readingProblem(new Error('odd'))).toBe('got odd');
  });
});

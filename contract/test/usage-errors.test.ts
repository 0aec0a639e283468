import { describe, expect, it } from 'vitest';
import { readingProblem, usageError, writingProblem } from '../src/command-line.ts';

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
  ])('%j is %j', (text, line) => {
    expect(usageError(text)).toBe(line);
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

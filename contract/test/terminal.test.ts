import { stripVTControlCharacters, styleText } from 'node:util';
import {
  displayWidth,
  printable,
  printableJson,
  table,
  withoutCommands,
  wrap,
} from '@hopwise/contract/terminal';
import { describe, expect, test } from 'vitest';

const bold = (text: string) => styleText('bold', text, { validateStream: false });

describe('the width of a line', () => {
  test.each([
    ['abc', 3],
    ['', 0],
    ['中文', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['🚀', 2],
    ['👩‍💻', 2],
    ['a\u200Bb', 2],
    ['–', 1],
    ['Ａ', 2],
  ])('of %s is %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test('does not count colours', () => {
    expect(displayWidth(bold('中a'))).toBe(3);
  });
});

describe('a table', () => {
  test('aligns columns, to the right where the title says so', () => {
    expect(
      table([
        ['page', '>ms', 'verdict'],
        ['shop', '1200', 'kept'],
        ['a', '7', ''],
      ]),
    ).toBe('page    ms  verdict\nshop  1200  kept\na        7');
  });

  test('sets numbers to the right without a mark in each title', () => {
    expect(
      table(
        [
          ['', 'low', 'high'],
          ['ms', '1', '20000'],
        ],
        { numbers: true },
      ),
    ).toBe('    low   high\nms    1  20000');
  });

  test('is aligned with wide characters and colours in cells', () => {
    const text = table([
      ['名前', 'x'],
      [bold('ab'), 'y'],
      ['abcde', 'z'],
    ]);
    expect(stripVTControlCharacters(text)).toBe('名前   x\nab     y\nabcde  z');
    expect(text).toContain(`${bold('ab')}     y`);
  });

  test('lets a remark in place of the last cells run over the other columns', () => {
    expect(
      table([
        ['origin', 'RTT', 'lost'],
        ['a', 'not reached: nothing answers'],
        ['b', '3 ms', '0'],
      ]),
    ).toBe('origin  RTT   lost\na       not reached: nothing answers\nb       3 ms  0');
  });

  test('without rows is empty', () => {
    expect(table([])).toBe('');
    expect(table([['a', 'b']])).toBe('a  b');
  });
});

test('sentences are broken between words', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('中文 中文', 6)).toEqual(['中文', '中文']);
  expect(wrap('longer than that', 4)).toEqual(['longer', 'than', 'that']);
  expect(wrap('', 4)).toEqual([]);
});

test('text from outside cannot steer the terminal, and is cut', () => {
  expect(printable('a\u001B[2J\u202Eb\n')).toBe('a?[2J?b?');
  expect(printable('abcdef', 4)).toBe('abc…');
  expect(printable('abcd', 4)).toBe('abcd');
});

describe('a log that a CI system reads', () => {
  test.each([
    ['::error::a', '?:error::a'],
    ['a\n \t::stop-commands::b\n::c', 'a\n \t?:stop-commands::b\n?:c'],
    ['a: got "##[add-mask]b"', 'a: got "?#[add-mask]b"'],
    ['###[group]', '#?#[group]'],
    ['https://[::1]/ a::b #[c]', 'https://[::1]/ a::b #[c]'],
  ])('has no command in %j', (text, expected) => {
    expect(withoutCommands(text)).toBe(expected);
  });

  test('takes linear time', () => {
    const blanks = ' '.repeat(1_000_000);
    expect(withoutCommands(blanks)).toBe(blanks);
  });
});

describe('JSON', () => {
  test.each(['\u009B31m', '\u202E', '\u2066', '\u{E0001}', '\u007F', '\u2028', '##[error]'])(
    'has %j as an escape of the same value',
    (text) => {
      const json = printableJson(JSON.stringify({ [text]: text }));
      expect(json).not.toContain(text);
      expect(json).toMatch(/^[\x20-\x7e]+$/);
      expect(JSON.parse(json)).toEqual({ [text]: text });
    },
  );

  test('keeps letters of all scripts', () => {
    const json = JSON.stringify({ ü: '中文 🚀 ##' });
    expect(printableJson(json)).toBe(json);
  });
});

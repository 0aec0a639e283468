import { describe, expect, it } from 'vitest';
import { jsonFault } from '../src/index.ts';

function faultOf(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return jsonFault(text, error);
  }
  throw new Error('it is JSON');
}

describe('jsonFault', () => {
  it.each([
    ['nothing', ' \n', 'an empty text'],
    ['other text', 'hello', 'other text at "hello"'],
    ['what is cut within a value', '{"a": 1', 'a text that ends too early'],
    ['what is cut within a string', '{"a": "b', 'a text that ends too early'],
    ['what is cut after a comma', '{"a": 1,\n', 'a text that ends too early'],
    ['a comma too many', '{\n"a": 1,\n}', 'other text in line 3, column 1'],
    ['two values', '{}\n{}', 'other text in line 2, column 1'],
    ['a word within', '{"a": hello, "b": 1}', 'other text at "{\\"a\\": hello, \\"b\\": 1}"'],
    ['what is no text', '\u{fffd}\u{fffd}p\u{fffd}2L', 'bytes that are no text'],
    ['control characters', '\u001b[31m', 'other text at "[31m"'],
  ])('describes %s', (_, text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });

  it('quotes the place in a long text, and never much', () => {
    expect(faultOf(`{"a": "${'x'.repeat(500)}", "b": hello}`)).toMatch(/^other text at ".{1,40}hello.*"$/);
    expect(faultOf('x'.repeat(500)).length).toBeLessThan(100);
  });

  it('quotes the text at a given place, instead of naming a line', () => {
    const text = '{\n"a": 1 "b\u202e": 2\n}';
    const error = new SyntaxError(
      "Expected ',' or '}' after property value in JSON at position 9 (line 2 column 8)",
    );
    expect(jsonFault(text, error)).toBe('other text in line 2, column 8');
    expect(jsonFault(text, error, 9)).toBe('other text at "\\"b \\": 2 }"');
  });

  it("reads Firefox's words", () => {
    const error = new SyntaxError('JSON.parse: unexpected character at line 1 column 2 of the JSON data');
    expect(jsonFault('hello', error)).toBe('other text in line 1, column 2');
    const end = new SyntaxError(
      'JSON.parse: end of data while reading object contents at line 1 column 2 of the JSON data',
    );
    expect(jsonFault('{', end)).toBe('a text that ends too early');
  });
});

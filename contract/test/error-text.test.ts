import { firstLine, messageOf } from '@hopwise/contract';
import { expect, it } from 'vitest';

it('gives the message of an error, and anything else thrown as text', () => {
  expect(messageOf(new Error('two\nlines'))).toBe('two\nlines');
  expect(messageOf('thrown as text')).toBe('thrown as text');
  expect(messageOf(undefined)).toBe('undefined');
});

it('gives the first line alone', () => {
  expect(firstLine(new Error('two\nlines'))).toBe('two');
  expect(firstLine(new Error(''))).toBe('');
});

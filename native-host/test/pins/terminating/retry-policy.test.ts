import type { Protocol } from '@hopwise/contract';
import { describe, expect, it } from 'vitest';
import type { ExchangeErrorCode } from '../../../src/exchange/exchange-fault.ts';
import { type FailedAttempt, nextAction } from '../../../src/pins/terminating/retry-policy.ts';

function action(code: ExchangeErrorCode, sent: boolean, more: Partial<FailedAttempt> = {}): string {
  return nextAction({ method: 'GET', hasBody: false, tried: ['h3'], code, sent, ...more });
}

describe('a request that was not sent', () => {
  it.each<[ExchangeErrorCode, string]>([
    ['connect', 'h2'],
    ['timeout', 'h2'],
    ['protocol', 'h3'],
    ['reset', 'h3'],
    ['certificate', 'refuse'],
    ['engine-died', 'refuse'],
    ['refused-locally', 'refuse'],
  ])('after %s goes: %s, whatever its method', (code, expected) => {
    for (const method of ['GET', 'POST']) expect(action(code, false, { method })).toBe(expected);
  });

  it.each<ExchangeErrorCode>(['protocol', 'reset'])('after %s twice goes another way', (code) => {
    expect(action(code, false, { tried: ['h3', 'h3'] })).toBe('h2');
  });

  it('is the browser’s to repeat where it has a body', () => {
    expect(action('connect', false, { method: 'POST', hasBody: true })).toBe('refuse');
  });

  it.each<[Protocol[], string]>([
    [['h3', 'h2'], 'h1'],
    [['h3', 'h2', 'h1'], 'refuse'],
    [['h2'], 'h1'],
    [['h2', 'h1'], 'refuse'],
    [['h1'], 'h2'],
    [['h1', 'h2'], 'refuse'],
  ])('after %j goes: %s', (tried, expected) => {
    expect(action('connect', false, { tried })).toBe(expected);
  });
});

describe('a request that may have been sent', () => {
  it.each<ExchangeErrorCode>(['reset', 'protocol', 'timeout', 'engine-died'])(
    'fails after %s where it may not be repeated',
    (code) => {
      for (const method of ['POST', 'PATCH', 'LOCK']) expect(action(code, true, { method })).toBe('fail');
    },
  );

  it.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])('is repeated for %s', (method) => {
    expect(action('reset', true, { method })).toBe('h3');
    expect(action('reset', true, { method, tried: ['h3', 'h3'] })).toBe('h2');
    expect(action('reset', true, { method, tried: ['h3', 'h3', 'h2', 'h1'] })).toBe('fail');
    expect(action('protocol', true, { method, tried: ['h3', 'h2', 'h1'] })).toBe('refuse');
    expect(action('engine-died', true, { method })).toBe('refuse');
    expect(action('reset', true, { method, hasBody: true })).toBe('refuse');
  });
});

import { describe, expect, it } from 'vitest';
import { MIN_SECRET_LENGTH, ProxyAuthorization } from '../../../src/pins/proxy/proxy-authorization.ts';
import { SECRET } from './support/peers.ts';

const authorization = new ProxyAuthorization(SECRET);

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

describe('ProxyAuthorization', () => {
  it.each([basic(`hopwise:${SECRET}`), basic(`:${SECRET}`), basic(`a:${SECRET}`).replace('Basic', 'bASIC')])(
    'accepts %s',
    (field) => {
      expect(authorization.accepts([field])).toBe(true);
    },
  );

  it('accepts a secret with colons', () => {
    const secret = ':a:secret:with:many:colons:';
    expect(new ProxyAuthorization(secret).accepts([basic(`user:${secret}`)])).toBe(true);
  });

  it.each([
    '',
    'Basic',
    'Basic ',
    `Basic ${SECRET}`,
    basic(''),
    basic(':'),
    basic(SECRET),
    basic(`hopwise:${SECRET} `),
    basic(`hopwise:${SECRET.slice(0, -1)}`),
    basic(`hopwise:${SECRET}${SECRET}`),
    basic(`hopwise:${'x'.repeat(4000)}`),
    `${basic(`hopwise:${SECRET}`)}, ${basic('a:b')}`,
    `${basic(`hopwise:${SECRET}`)}!`,
    basic(`hopwise:${SECRET}`).replace('Basic', 'Bearer'),
    basic(`hopwise:${SECRET}`).replace('Basic', 'Digest'),
  ])('refuses %j', (field) => {
    expect(authorization.accepts([field])).toBe(false);
  });

  it('refuses no field and more than one', () => {
    const right = basic(`hopwise:${SECRET}`);
    expect(authorization.accepts(undefined)).toBe(false);
    expect(authorization.accepts([])).toBe(false);
    expect(authorization.accepts([right, right])).toBe(false);
  });

  it('takes no secret that can be guessed', () => {
    expect(() => new ProxyAuthorization('')).toThrow(RangeError);
    expect(() => new ProxyAuthorization('x'.repeat(MIN_SECRET_LENGTH - 1))).toThrow(RangeError);
  });
});

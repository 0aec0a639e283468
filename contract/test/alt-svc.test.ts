import fc from 'fast-check';
import { expect, it } from 'vitest';
import { h3Offers, offersH3 } from '../src/alt-svc.ts';

it.each([
  ['h3=":443"; ma=86400', [{ host: '', port: 443, maxAgeS: 86_400 }]],
  ['h3-29=":443", h3=":8443"; ma=60', [{ host: '', port: 8443, maxAgeS: 60 }]],
  ['h2="alt.test:443",h3="Alt.Test:444";persist=1', [{ host: 'alt.test', port: 444, maxAgeS: 86_400 }]],
  ['h3="[2001:db8::1]:443"', [{ host: '[2001:db8::1]', port: 443, maxAgeS: 86_400 }]],
  [
    'h3=":443"; persist=1; ma="60", h3="b.test:444";ma=5',
    [
      { host: '', port: 443, maxAgeS: 60 },
      { host: 'b.test', port: 444, maxAgeS: 5 },
    ],
  ],
  ['clear', []],
  ['', []],
  ['h3-29=":443"', []],
  ['h3=":0"', []],
  ['h3=":99999"', []],
  ['h3="a b:443"', []],
  ['h3="evil.test:443:10.0.0.1:22"', []],
])('reads %j', (value, expected) => {
  expect(h3Offers(value)).toEqual(expected);
});

it('takes any text', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const { host } of h3Offers(`h3="${text}"`)) expect(host).not.toMatch(/[\s:](?![^[]*\])/);
    }),
  );
});

it('lists no more than eight', () => {
  expect(h3Offers('h3=":443",'.repeat(500))).toHaveLength(8);
});

it.each([
  ['h3=":443"', true],
  ['h3=":443"; ma=86400, h3-29=":443"; ma=86400', true],
  ['h3=":443"; ma=0', false],
  ['h3=":443"; ma=0, h3=":8443"', true],
  ['clear', false],
  ['h2="h3.test:443"', false],
  ['h2="alt.test:443"; v="h3"', false],
  ['h3-29=":443"; ma=86400', false],
  ['h3-Q050=":443"', false],
  ['quic=":443"; v="46,43"', false],
])('%j makes a browser of today try HTTP/3: %j', (value, expected) => {
  expect(offersH3(value)).toBe(expected);
});

it('counts drafts of HTTP/3 for browsers of their time', () => {
  expect(offersH3('h3-29=":443"; ma=86400', true)).toBe(true);
  expect(offersH3('h3-29=":443"; ma=0', true)).toBe(false);
  expect(offersH3('h2="h3-29:443"', true)).toBe(false);
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { h3Offer } from '../src/probe/alt-svc.ts';

it.each([
  ['h3=":443"; ma=86400', { host: '', port: 443 }],
  ['h3-29=":443", h3=":8443"; ma=60', { host: '', port: 8443 }],
  ['h2="alt.test:443",h3="Alt.Test:444";persist=1', { host: 'alt.test', port: 444 }],
  ['h3="[2001:db8::1]:443"', { host: '[2001:db8::1]', port: 443 }],
  ['clear', null],
  ['', null],
  ['h3-29=":443"', null],
  ['h3=":0"', null],
  ['h3=":99999"', null],
  ['h3="a b:443"', null],
  ['h3="evil.test:443:10.0.0.1:22"', null],
])('reads %j', (value, expected) => {
  expect(h3Offer(value)).toEqual(expected);
});

it('takes any text', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const offer = h3Offer(`h3="${text}"`);
      if (offer) expect(offer.host).not.toMatch(/[\s:](?![^[]*\])/);
    }),
  );
});

import { expect, test } from 'vitest';
import { makeRules } from '../../src/announce/rules.ts';
import { asksForStartRate, originForHints, stepBelow } from '../../src/announce/start-rate.ts';

test.each([
  ['Start-Rate', true],
  ['Sec-CH-UA, start-rate', true],
  ['DPR,Start-Rate;x=1', true],
  ['', false],
  ['Start-Rates, X-Start-Rate', false],
  ['"Start-Rate"', false],
])('Accept-CH: %s asks for the hint: %s', (value, asks) => {
  expect(asksForStartRate(value)).toBe(asks);
});

test.each([
  [25e6, 20],
  [20e6, 20],
  [19.9e6, 10],
  [900_000, null],
  [5e9, 500],
])('%d bit/s is announced as %s Mbit/s', (bps, mbps) => {
  expect(stepBelow(bps)).toBe(mbps);
});

test.each([
  ['https://a.test/b?c', 'https://a.test'],
  ['https://a.test:8443/', 'https://a.test:8443'],
  ['http://localhost:1/', 'http://localhost:1'],
  ['http://a.test/', null],
  ['ftp://a.test/', null],
])('hints of %s may go to %s', (url, origin) => {
  expect(originForHints(url)).toBe(origin);
});

test('rules are for exact origins, with an id each', () => {
  const rules = makeRules(['https://a.test', 'https://b.test:8443'], 20);
  expect(rules.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  expect(rules.map(({ condition }) => condition.urlFilter)).toEqual([
    '|https://a.test/',
    '|https://a.test/',
    '|https://b.test:8443/',
    '|https://b.test:8443/',
  ]);
  expect(rules[0]!.action.requestHeaders).toEqual([{ header: 'Start-Rate', operation: 'set', value: '20' }]);
});

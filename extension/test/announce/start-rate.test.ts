import { expect, test } from 'vitest';
import { makeRules } from '../../src/announce/rules.ts';
import { asksForStartRate, siteForHints, stepBelow } from '../../src/announce/start-rate.ts';

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
  ['https://c.b.a.test:8443/', 'https://a.test'],
  ['https://10.0.0.1:8443/', 'https://10.0.0.1'],
  ['http://localhost:1/', 'http://localhost'],
  ['http://a.test/', null],
  ['ftp://a.test/', null],
])('hints that %s asks for may go to %s', (url, site) => {
  expect(siteForHints(url)).toBe(site);
});

test('rules are for sites, with an id each, and not for those that are excluded', () => {
  const rules = makeRules(['https://a.test', 'http://localhost'], ['no.a.test'], 20);
  expect(rules.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  const at = (protocol: string, host: string) => ({
    urlFilter: `|${protocol}//`,
    requestDomains: [host],
    excludedRequestDomains: ['no.a.test'],
  });
  const [a, here] = [at('https:', 'a.test'), at('http:', 'localhost')];
  expect(rules.map(({ condition }) => condition)).toMatchObject([a, a, here, here]);
  expect(rules[0]!.action.requestHeaders).toEqual([{ header: 'Start-Rate', operation: 'set', value: '20' }]);
  expect(makeRules(['https://a.test'], [], 20)[0]!.condition).not.toHaveProperty('excludedRequestDomains');
});

import { expect, test } from 'vitest';
import { normalizeSite } from '../../src/options/normalize-site.ts';
import { isOnSite } from '../../src/storage/is-on-site.ts';

test.each([
  ['example.org', 'example.org'],
  [' *.Example.org ', 'example.org'],
  ['https://user@bank.example.org:8443/login?x', 'bank.example.org'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['example.org.', 'example.org'],
  ['localhost', 'localhost'],
  ['[2001:db8::1]', '[2001:db8::1]'],
])('%s is the site %s', (text, site) => {
  expect(normalizeSite(text)).toBe(site);
});

test.each(['', '*', 'exa*mple.org', 'oops%2A', 'two words', 'https://'])(
  '“%s” is refused with what was expected',
  (text) => {
    expect(() => normalizeSite(text)).toThrow(/is not a site\. Enter a host such as example\.org\.$/);
  },
);

test.each([
  ['https://example.org/', true],
  ['http://a.b.example.org:8080/x', true],
  ['https://example.org./', true],
  ['https://notexample.org/', false],
  ['https://example.org.test/', false],
  ['about:blank', false],
  ['', false],
])('%s is on example.org: %s', (url, isOn) => {
  expect(isOnSite(url, ['other.test', 'example.org'])).toBe(isOn);
});

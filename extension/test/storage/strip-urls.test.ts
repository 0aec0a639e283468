import type { Prediction, Recording } from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredLoad } from '../../src/storage/loads.ts';
import { restoreLoad, stripLoad, stripLoadUrls, stripVerification } from '../../src/storage/strip-load.ts';
import { maskQuery, maskUrlsInText, UrlStripper } from '../../src/storage/strip-urls.ts';
import { verificationOf } from '../support/verification.ts';

/** Text that occurs in no other part of a URL. */
const SECRET = 'S3CR3T';

const secret = fc.stringMatching(/^[a-z0-9=&?@:/%+.-]{0,12}$/).map((text) => SECRET + text);
const host = fc.constantFrom('a.test', 'b.test:8443', '[2001:db8::1]');
const path = fc.constantFrom('/', '/a', '/a/b.js', '/@scope/c', '/1');

/** A URL in its parts, as browsers serialise it. */
const url = fc.record({
  userinfo: fc.option(fc.stringMatching(/^[a-z0-9:%.-]{1,8}$/).map((text) => `${SECRET}${text}@`)),
  address: fc.tuple(host, path),
  query: fc.option(fc.oneof(secret, fc.constant('')).map((text) => `?${text}`)),
  fragment: fc.option(secret.map((text) => `#${text}`)),
});
type Parts = typeof url extends fc.Arbitrary<infer T> ? T : never;

const write = ({ userinfo, address: [host, path], query, fragment }: Parts) =>
  `https://${userinfo ?? ''}${host}${path}${query ?? ''}${fragment ?? ''}`;
/** What distinguishes requests: neither passwords nor fragments do. */
const identify = ({ address, query }: Parts) => `${address.join('')}${query ?? ''}`;

function loadOf(urls: string[]): StoredLoad {
  const [first = 'https://a.test/'] = urls;
  const page = { page: { url: urls.at(-1) ?? first } } as Prediction;
  return {
    id: 1,
    storedAtMs: 0,
    requestedUrl: first,
    recording: {
      url: urls.at(-1) ?? first,
      largestContentfulPaintUrl: first,
      requests: urls.map((url, id) => ({ id, url })),
    } as Recording,
    hidesQueries: false,
    prediction: page,
    problem: `cannot emulate ${first}`,
    verification: verificationOf({ pageUrl: first, stopped: `no answer of ${first}` }),
    verifiedPrediction: page,
  };
}

const urls = fc.array(url, { maxLength: 30 });

test('no part of a query string, fragment, user name or password is left in a load', () => {
  fc.assert(
    fc.property(urls, (parts) => {
      expect(JSON.stringify(stripLoad(loadOf(parts.map(write))))).not.toContain(SECRET);
    }),
  );
});

test('equal URLs stay equal within a load, and different ones different', () => {
  fc.assert(
    fc.property(urls, (parts) => {
      const stripped = stripLoad(loadOf(parts.map(write))).recording.requests;
      for (const [i, one] of parts.entries()) {
        for (const [j, other] of parts.entries()) {
          expect(stripped[i]!.url === stripped[j]!.url).toBe(identify(one) === identify(other));
        }
      }
    }),
  );
});

test('stripping stripped URLs changes nothing', () => {
  fc.assert(
    fc.property(urls, (parts) => {
      const once = stripLoadUrls(loadOf(parts.map(write)));
      const twice = stripLoadUrls(once);
      expect(twice.recording).toEqual(once.recording);
      expect(twice.requestedUrl).toBe(once.requestedUrl);
    }),
  );
});

test('query strings can be put back', () => {
  fc.assert(
    fc.property(urls, (parts) => {
      const load = loadOf(parts.map(write));
      const { queries, ...stripped } = stripLoadUrls(load);
      const restored = restoreLoad({ ...load, ...stripped }, queries);
      expect(restored.recording.requests.map((request) => request.url)).toEqual(
        parts.map((one) => `https://${identify(one)}`),
      );
    }),
  );
});

test('URLs differ from the originals in query string, fragment and password alone', () => {
  const stripper = new UrlStripper();
  expect(
    [
      'https://a.test/search?q=one',
      'https://a.test/search?q=two#top',
      'https://a.test/search?q=one',
      'https://user:pass@a.test/search',
      'https://a.test/@user/?',
    ].map((one) => stripper.strip(one)),
  ).toEqual([
    'https://a.test/search?1',
    'https://a.test/search?2',
    'https://a.test/search?1',
    'https://a.test/search',
    'https://a.test/@user/?3',
  ]);
  expect(stripper.queries).toEqual(['q=one', 'q=two', '']);
});

test('a load that keeps its query strings loses passwords and fragments', () => {
  const { requestedUrl, hidesQueries } = stripLoadUrls(loadOf(['https://u:p@a.test/?q=1#top']), true);
  expect({ requestedUrl, hidesQueries }).toEqual({
    requestedUrl: 'https://a.test/?q=1',
    hidesQueries: false,
  });
});

test('what the helper reports keeps no query string', () => {
  const pageUrl = 'https://a.test/?1';
  const stopped = 'no answer of https://a.test/x?token=1, https://b.test/y#z.';
  expect(
    stripVerification(verificationOf({ pageUrl: 'https://a.test/?q=1', stopped }), pageUrl),
  ).toMatchObject({
    pageUrl,
    stopped: expect.not.stringContaining('token'),
  });
  expect(maskUrlsInText(stopped)).toBe('no answer of https://a.test/x? https://b.test/y');
});

test('URLs that differ in the query string alone are masked to the same URL', () => {
  expect(maskQuery('https://a.test/s?q=1#x')).toBe(maskQuery('https://a.test/s?12'));
  expect(maskQuery('https://a.test/s')).not.toBe(maskQuery('https://a.test/s?q=1'));
});

import { InputError, parseRecording } from '@hopwise/pageload-emulator';
import { describe, expect, test } from 'vitest';
import { chromiumEntry, harOf } from '../support/hars.ts';
import { mostSeconds, processorSeconds } from '../support/processor-time.ts';

const URL = 'https://a.test/';
const itself = { _initiator: { type: 'script', url: URL }, _resourceType: 'script' };

/** `count` entries that differ in their starts, all within `spanMs` of the first, or in their names alone. */
function entriesOf(count: number, spanMs: number, extra: object, startMs = 0): object[] {
  const starts = Array.from({ length: spanMs }, (_, ms) => chromiumEntry(URL, startMs + ms, {}, extra));
  return Array.from({ length: count }, (_, i) => ({ ...starts[i % spanMs]!, _requestId: String(i) }));
}

const page = (startedDateTime: string) => ({ id: 'page_1', startedDateTime, pageTimings: {} });

describe('a hostile recording is read or refused within three seconds', () => {
  const redirect = {
    request: { method: 'GET', url: URL },
    response: { status: 302, redirectURL: URL },
    timings: { wait: 1 },
  };
  const tooMany = 'log.entries: expected at most 10000 requests, got 50000';
  const frames = Array.from({ length: 200_000 }, (_, i) => ({ url: `https://a.test/${i}.js` }));
  let deep: unknown = 'h3';
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];

  test.each<[string, () => unknown, string | number | RegExp]>([
    ['requests that all name one URL', () => harOf(entriesOf(10_000, 1000, itself)), 10_000],
    ['more that all name one URL', () => harOf(entriesOf(50_000, 1000, itself)), tooMany],
    ['more that all begin at once', () => harOf(entriesOf(50_000, 1, itself)), tooMany],
    ['redirects to one URL at once', () => harOf(entriesOf(50_000, 5, redirect)), tooMany],
    [
      'a million entries',
      () => harOf(new Array(1_000_000).fill(chromiumEntry(URL, 0, {}, itself))),
      'log.entries: expected at most 50000 entries, got 1000000',
    ],
    [
      'a million pages',
      () => ({ log: { pages: new Array(1_000_000).fill({}), entries: [] } }),
      'log.pages: expected at most 10000 pages, got 1000000',
    ],
    [
      'pages of one id, all without requests but the last',
      () => {
        const pages = new Array(10_000).fill(page('2026-01-05T10:00:00Z'));
        const entries = entriesOf(10_000, 1000, { ...itself, pageref: 'page_1' }, 60_000);
        return { log: { pages: [...pages, page('2026-01-05T10:01:00Z')].slice(1), entries } };
      },
      10_000,
    ],
    [
      'entries that are all wrong',
      () => harOf(new Array(50_000).fill({ request: [], response: [], timings: [] })),
      'log.entries[0].startedDateTime: expected a date and time, got nothing',
    ],
    [
      'a million headers that are none',
      () =>
        harOf([{ ...redirect, ...chromiumEntry(URL, 0, {}), response: { headers: new Array(1e6).fill(0) } }]),
      1,
    ],
    [
      'one entry that is there 50,000 times',
      () => harOf(new Array(50_000).fill(chromiumEntry(URL, 0, {}, itself))),
      1,
    ],
    [
      'one stack of 200,000 scripts',
      () => harOf([chromiumEntry(URL, 0, {}, { _initiator: { stack: { callFrames: frames } } })]),
      1,
    ],
    [
      'a relative redirect from an endless query',
      () => {
        const url = `https://a.test/${'?'.repeat(1_000_000)}\n`;
        const response = { status: 302, redirectURL: 'x' };
        return harOf([chromiumEntry(URL, 0, {}, { request: { url }, response })]);
      },
      1,
    ],
    [
      'a header as deep as it is long',
      () => harOf([chromiumEntry(URL, 0, {}, { response: { headers: [{ name: 'alt-svc', value: deep }] } })]),
      1,
    ],
    [
      'a million requests of an own recording',
      () => ({ format: 'hopwise-recording', version: 1, requests: new Array(1_000_000).fill(0) }),
      'requests: expected at most 10000 requests, got 1000000',
    ],
    [
      'a call of JavaScript that ends in blanks, and does not end',
      () => `f(1)${' '.repeat(150_000)}x`,
      /^top level: expected JSON, got /,
    ],
    [
      'dates of blanks',
      () => {
        const blank = { ...chromiumEntry(URL, 9, {}), startedDateTime: ' '.repeat(60_000) };
        return harOf([...entriesOf(5, 5, {}), blank, blank, blank]);
      },
      5,
    ],
    [
      'pages with dates of nothing but times, and a line end',
      () => {
        const endless = page(`${'0:00.'.repeat(12_000)}\n`);
        return { log: { pages: new Array(20).fill(endless), entries: entriesOf(5, 5, {}) } };
      },
      5,
    ],
    ['JSON that only opens', () => '['.repeat(200_000), /^[[\]0]+…: expected JSON, got .*$/],
  ])('%s', (_, make, expected) => {
    const input = make();
    let got: unknown;
    const read = () => {
      try {
        got = parseRecording(input).requests.length;
      } catch (error) {
        expect(error).toBeInstanceOf(InputError);
        got = (error as Error).message;
      }
    };
    let seconds = processorSeconds(read);
    // Shared processors are occasionally slower.
    for (let left = 2; left > 0 && seconds >= mostSeconds(seconds); left--) seconds = processorSeconds(read);
    if (expected instanceof RegExp) expect(got).toMatch(expected);
    else expect(got).toBe(expected);
    expect(seconds).toBeLessThan(mostSeconds(seconds));
  });
});

test('names of properties that every object has are no types, kinds or priorities', () => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    const odd = { _initiator: { type: name, url: URL }, _resourceType: name, _priority: name };
    const { requests } = parseRecording(
      harOf([
        chromiumEntry(URL, 0, {}),
        chromiumEntry('https://a.test/b.png', 60, {}, { ...odd, response: {} }),
      ]),
    );
    expect(requests[1]).toMatchObject({ type: 'image', urgency: null, initiator: { kind: 'other' } });
  }
});

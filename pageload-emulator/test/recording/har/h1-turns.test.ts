import { parseRecording, readRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, type HarTimings, harOf } from '../../support/hars.ts';

const PAGE = 'https://a.test/';

/** An entry over a protocol, whose `_connectionId` is the connection; null for one that names none. */
function entry(
  path: string,
  startMs: number,
  timings: HarTimings,
  connection: string | null,
  protocol = 'http/1.1',
) {
  const whole = chromiumEntry(`${PAGE}${path}`, startMs, timings, {
    ...(connection !== null && { _connectionId: connection }),
  }) as { request: object; response: object };
  const [request, response] = [whole.request, whole.response].map((each) => ({
    ...each,
    httpVersion: protocol,
  }));
  return { ...whole, request, response };
}

const document = entry('', 0, { connect: 40, ssl: 20, wait: 30, receive: 10 }, '1');

/** When requests after the document left, and when their responses began. */
function timesOf(entries: object[]): (number | null)[][] {
  const { requests } = parseRecording(harOf([document, ...entries], { onLoad: 3_000, onContentLoad: 200 }));
  return requests.slice(1).map(({ phases }) => [phases.requestStartMs, phases.responseStartMs]);
}

describe('what requests over HTTP/1.1 waited for a connection is no wait for the server', () => {
  it('on a connection that they share', () => {
    // Each waits 30 for the server, and for the one before it.
    const queued = [0, 1, 2].map((at) => entry(`${at}.png`, 100, { wait: 40 * at + 30, receive: 10 }, '1'));
    expect(timesOf(queued)).toEqual([
      [100, 130],
      [140, 170],
      [180, 210],
    ]);
  });

  it('unless their responses overlap: what is named is no connection then', () => {
    const both = ['a.png', 'b.png'].map((path) => entry(path, 100, { wait: 50, receive: 30 }, '1'));
    expect(timesOf(both)).toEqual([
      [100, 150],
      [100, 150],
    ]);
  });

  it('nor where one left while the response before it arrived, whose end was recorded late', () => {
    const late = entry('a.png', 100, { wait: 30, receive: 15 }, '1');
    const next = entry('b.png', 132, { wait: 30, receive: 10 }, '1');
    // Dates are whole milliseconds.
    const last = entry('c.png', 161, { wait: 30, receive: 10 }, '1');
    expect(timesOf([late, next, last])).toEqual([
      [100, 130],
      [132, 162],
      [161, 191],
    ]);
  });

  it('and over HTTP/2 they share it', () => {
    const both = [30, 70].map((wait) => entry(`${wait}.png`, 100, { wait, receive: 10 }, '1', 'h2'));
    expect(timesOf(both)).toEqual([
      [100, 130],
      [100, 170],
    ]);
  });

  it('where more are under way than browsers have connections for: they take turns on six', () => {
    const turns = Array.from({ length: 18 }, (_, at) => {
      const turn = Math.floor(at / 6);
      return entry(`${at}.png`, 100 + at / 100, { wait: 50 * turn + 30, receive: 20 }, null);
    });
    const times = timesOf(turns);
    for (const [at, [sentMs, answeredMs]] of times.entries()) {
      expect(sentMs).toBeCloseTo(100 + 50 * Math.floor(at / 6), 0);
      expect(answeredMs! - sentMs!).toBeCloseTo(30, 0);
    }
  });

  it('but twelve at once may each have a connection: half of them without cookies', () => {
    const twelve = Array.from({ length: 12 }, (_, at) => entry(`${at}.png`, 100, { wait: 30 + at }, null));
    expect(timesOf(twelve).map(([sentMs]) => sentMs)).toEqual(twelve.map(() => 100));
  });
});

describe('HTTP/1.1 that a recorder writes for every request', () => {
  /** Images that are waited for and arrive together. */
  const images = (count: number, protocol = 'http/1.1', origin = PAGE) =>
    Array.from({ length: count }, (_, at) => {
      const each = entry(`${at}.png`, 100, { wait: 30 + at, receive: 60 }, null, protocol);
      return { ...each, request: { ...each.request, url: `${origin}${at}.png` } };
    });
  const protocolsOf = (entries: object[], first: object = document) => {
    const { requests } = parseRecording(harOf([first, ...entries], { onLoad: 3_000, onContentLoad: 200 }));
    return new Set(requests.map(({ protocol }) => protocol));
  };

  it('is not known where more responses arrive at once than browsers have connections for', () => {
    expect(protocolsOf(images(13))).toEqual(new Set([null]));
    expect(readRecording(harOf([document, ...images(13)])).notes.join()).toContain('protocols are unknown');
    expect(timesOf(images(13)).map(([sentMs]) => sentMs)).toEqual(images(13).map(() => 100));
  });

  it('is believed of twelve at once, beside other protocols, and without TLS', () => {
    expect(protocolsOf(images(12))).toEqual(new Set(['h1']));
    expect(protocolsOf([...images(13), ...images(1, 'h2', 'https://cdn.test/')])).toEqual(
      new Set(['h1', 'h2']),
    );
    const plain = { ...document, request: { ...document.request, url: 'http://a.test/' } };
    expect(protocolsOf(images(13, 'http/1.1', 'http://a.test/'), plain)).toEqual(new Set(['h1']));
  });
});

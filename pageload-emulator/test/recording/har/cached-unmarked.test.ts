import { parseRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, harOf } from '../../support/hars.ts';

const PAGE = 'https://a.test/';
const NO_TIME = { blocked: 0, dns: 0, connect: 0, ssl: 0, send: 0, wait: 0, receive: 0 };

/** Reads a page and one more answer. */
function isCached(response: object, extra: object = {}, page: object = {}): boolean {
  const entry = chromiumEntry('https://a.test/x.png', 100, { wait: 4, receive: 1 }, extra) as {
    response: object;
  };
  const answer = { status: 200, content: { size: 9_000, mimeType: 'image/png' }, ...response };
  const document = { ...chromiumEntry(PAGE, 0, { connect: 60, wait: 80, receive: 20 }), ...page };
  return parseRecording(harOf([document, { ...entry, response: answer }])).requests[1]!.fromCache;
}

describe('an answer of which nothing was transferred came from a cache', () => {
  it('in Chrome until 2019, and of its prefetch cache', () => {
    const none = { httpVersion: 'unknown', bodySize: 0, headersSize: -1, _transferSize: 0 };
    expect(isCached(none)).toBe(true);
    expect(isCached({ ...none, httpVersion: 'h2', bodySize: -1 })).toBe(true);
    expect(isCached({ ...none, _transferSize: 300 })).toBe(false);
    // A connection was opened for it.
    expect(isCached(none, { timings: { connect: 60, wait: 40 } })).toBe(false);
    expect(isCached({ ...none, content: { size: 0 } })).toBe(false);
    expect(isCached({ ...none, status: 304 })).toBe(false);
    expect(isCached({ ...none, status: 0 })).toBe(false);
  });

  it('unless the recorder writes 0 for every answer', () => {
    const zero = { status: 200, _transferSize: 0, bodySize: -1, content: { size: 9_000 } };
    expect(isCached(zero, {}, { response: zero })).toBe(false);
  });

  it('in Chrome until 2013, where a body less its headers is negative', () => {
    expect(isCached({ httpVersion: 'HTTP/1.1', headersSize: 430, bodySize: -430 })).toBe(true);
    expect(isCached({ httpVersion: 'HTTP/1.1', headersSize: 430, bodySize: -1 })).toBe(false);
  });

  it('in files of Chrome without its own fields, where an empty body came on no connection while others name theirs', () => {
    const empty = { httpVersion: 'unknown', bodySize: 0, headersSize: -1 };
    const unnamed = { connection: undefined };
    expect(isCached(empty, unnamed)).toBe(true);
    expect(isCached(empty)).toBe(false);
    expect(isCached({ ...empty, bodySize: -1 }, unnamed)).toBe(false);
    expect(isCached(empty, { ...unnamed, timings: { connect: 60, wait: 40 } })).toBe(false);
    // Recorders that name no connections, or see no body before it is decoded.
    expect(isCached(empty, unnamed, unnamed)).toBe(false);
    expect(isCached(empty, unnamed, { response: { ...empty, status: 200, content: { size: 9_000 } } })).toBe(
      false,
    );
  });

  it('in Firefox, whose caches take no time', () => {
    // Its cache of images.
    const unnamed = { httpVersion: '', bodySize: -1, headersSize: -1 };
    const silent = { timings: {}, time: 0, request: { url: 'https://a.test/x.png' } };
    expect(isCached(unnamed, silent)).toBe(true);
    // Its cache of HTTP.
    const quick = { httpVersion: 'HTTP/2', bodySize: 9_000, headersSize: 0 };
    expect(isCached(quick, { timings: NO_TIME, time: 0 })).toBe(true);
    // Revalidated, or quick.
    expect(isCached({ ...quick, status: 304 }, { timings: NO_TIME, time: 0 })).toBe(false);
    expect(isCached({ ...quick, headersSize: 250 }, { timings: NO_TIME, time: 0 })).toBe(false);
    expect(isCached(quick, { timings: { ...NO_TIME, wait: 1 }, time: 1 })).toBe(false);
  });

  it('unless the recorder times nothing at all', () => {
    const untimed = { timings: {}, time: 0 };
    expect(() => isCached({ bodySize: -1 }, untimed, untimed)).toThrow('expected times of requests');
  });
});

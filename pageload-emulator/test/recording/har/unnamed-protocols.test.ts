import { networkPosterior, readRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, type HarTimings, harOf } from '../../support/hars.ts';

const PAGE = 'https://a.test/';

interface Sketch {
  httpVersion?: string | undefined;
  altSvc?: string;
  /** Bytes of the body. */
  bytes?: number;
}

function entry(url: string, startMs: number, timings: HarTimings, sketch: Sketch = {}) {
  const { httpVersion = '', altSvc, bytes = 10_000 } = sketch;
  const whole = chromiumEntry(url, startMs, timings) as { request: object; response: object };
  const headers = altSvc === undefined ? [] : [{ name: 'alt-svc', value: altSvc }];
  const sizes = { bodySize: bytes, _transferSize: bytes + 300 };
  return {
    ...whole,
    request: { ...whole.request, httpVersion },
    response: { ...whole.response, httpVersion, headers, ...sizes },
  };
}

/** A document and two images, one of which names its protocol where it is given. */
function load(page = PAGE, sketch: Sketch = {}, imageVersion = sketch.httpVersion) {
  return [
    entry(page, 0, { dns: 5, connect: 40, ssl: 20, wait: 30, receive: 10 }, sketch),
    entry(`${page}a.png`, 100, { wait: 30, receive: 10 }, sketch),
    entry(`${page}b.png`, 100, { wait: 30, receive: 20 }, { ...sketch, httpVersion: imageVersion }),
  ];
}

const protocolsOf = (har: object) => readRecording(har).recording.requests.map(({ protocol }) => protocol);

describe('protocols that a file does not name', () => {
  it('are taken for HTTP/2 over TLS, which a note says', () => {
    expect(protocolsOf(harOf(load()))).toEqual(['h2', 'h2', 'h2']);
    expect(protocolsOf(harOf(load(PAGE, { httpVersion: 'unknown' })))).toEqual(['h2', 'h2', 'h2']);
    expect(readRecording(harOf(load())).notes).toEqual([
      'the file names no protocol of 3 requests: HTTP/2 is assumed',
    ]);
  });

  it('are taken for HTTP/1.1 before HTTP/2 was published', () => {
    const early = JSON.parse(JSON.stringify(harOf(load())).replaceAll('2026-01-05', '2013-01-05'));
    expect(protocolsOf(early)).toEqual(['h1', 'h1', 'h1']);
  });

  it('are HTTP/2 where DevTools had no text of headers, beside HTTP/1.1', () => {
    const mixed = (httpVersion: string) => harOf(load(PAGE, { httpVersion: 'unknown' }, httpVersion));
    expect(protocolsOf(mixed('HTTP/1.1'))).toEqual(['h2', 'h2', 'h1']);
    expect(readRecording(mixed('HTTP/1.1')).notes).toEqual([
      'the file names no protocol of 2 requests: HTTP/2 is assumed',
    ]);
    // What names HTTP/2 elsewhere does not know these.
    expect(protocolsOf(mixed('h2'))).toEqual([null, null, 'h2']);
  });

  it('are HTTP/2 where headers begin with a colon', () => {
    const shown = load(PAGE, {}, 'h2').map((each) => ({
      ...each,
      request: { ...each.request, headers: [{ name: ':path', value: '/' }] },
    }));
    expect(protocolsOf(harOf(shown))).toEqual(['h2', 'h2', 'h2']);
    expect(readRecording(harOf(shown)).notes).toEqual([]);
  });

  it('are HTTP/1.1 without TLS, without a note', () => {
    const plain = harOf(load('http://a.test/'));
    expect(protocolsOf(plain)).toEqual(['h1', 'h1', 'h1']);
    expect(readRecording(plain).notes).toEqual([]);
  });

  it('stay unknown beside one that is named, and where HTTP/3 is offered', () => {
    expect(protocolsOf(harOf(load(PAGE, {}, 'h2')))).toEqual([null, null, 'h2']);
    expect(protocolsOf(harOf(load(PAGE, { altSvc: 'h3=":443"' })))).toEqual([null, null, null]);
  });

  it('keep nothing from being read of the network', () => {
    // Eight images of 250 kB, one after the other at 8 Mbit/s.
    const images = (sketch: Sketch) =>
      Array.from({ length: 8 }, (_, at) =>
        entry(`${PAGE}${at}.png`, 100, { wait: 30 + 250 * at, receive: 250 }, { ...sketch, bytes: 250_000 }),
      );
    const pathOf = (sketch: Sketch) => {
      const har = harOf([load(PAGE, sketch)[0]!, ...images(sketch)], { onLoad: 2_200, onContentLoad: 150 });
      return networkPosterior(readRecording(har).recording).path;
    };
    const { downBps } = pathOf({});
    expect(downBps).toBe(pathOf({ httpVersion: 'h2' }).downBps);
    expect(downBps / 8e6).toBeGreaterThan(0.8);
    expect(downBps / 8e6).toBeLessThan(1.5);
  });
});

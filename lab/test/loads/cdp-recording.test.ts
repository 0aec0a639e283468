import { describe, expect, it } from 'vitest';
import { LoadObserver } from '../../src/loads/cdp-observer.ts';
import { observedLoad, type PageTiming } from '../../src/loads/cdp-recording.ts';

/** navigationStart of the load, monotonic milliseconds. */
const START = 1_000_000;
const TIMING: PageTiming = {
  timeOrigin: Date.UTC(2026, 0, 1),
  url: 'https://a.test/#top',
  pltMs: 500,
  domContentLoadedMs: 300,
  fcpMs: 200,
  lcpMs: 250,
};

/** A load with synthetic events. Times are milliseconds after navigationStart. */
class SyntheticLoad {
  readonly observer = new LoadObserver();

  sent(id: string, url: string, atMs: number, more: Record<string, unknown> = {}): this {
    const { request, ...rest } = more;
    this.observer.receive('Network.requestWillBeSent', {
      requestId: id,
      request: { url, method: 'GET', initialPriority: 'Low', ...(request as object) },
      timestamp: (START + atMs) / 1000,
      initiator: { type: 'other' },
      type: 'Image',
      frameId: 'main',
      ...rest,
    });
    return this;
  }

  document(url = 'https://a.test/'): this {
    return this.sent('doc', url, 1, { type: 'Document' });
  }

  answered(id: string, response: Record<string, unknown> = {}): this {
    this.observer.receive('Network.responseReceived', { requestId: id, response: answer(response) });
    return this;
  }

  received(id: string, dataLength: number): this {
    this.observer.receive('Network.dataReceived', { requestId: id, dataLength });
    return this;
  }

  ended(id: string, atMs: number, encodedDataLength = 1200): this {
    this.observer.receive('Network.loadingFinished', {
      requestId: id,
      timestamp: (START + atMs) / 1000,
      encodedDataLength,
    });
    return this;
  }

  observed() {
    return observedLoad(this.observer.hops(), TIMING, START, 'Chromium 156');
  }

  requests() {
    return this.observed().recording.requests;
  }
}

function answer(more: Record<string, unknown>) {
  return {
    status: 200,
    headers: {},
    protocol: 'h2',
    connectionId: 7,
    remoteIPAddress: '192.0.2.1',
    encodedDataLength: 200,
    ...more,
  };
}

const timing = (requestTimeMs: number, phases: Record<string, number>) => ({
  requestTime: (START + requestTimeMs) / 1000,
  dnsStart: -1,
  dnsEnd: -1,
  connectStart: -1,
  connectEnd: -1,
  sslStart: -1,
  sslEnd: -1,
  ...phases,
});

describe('LoadObserver', () => {
  it('does not count body bytes that arrived with the headers as header bytes', () => {
    const bodyBytes = (encodedDataLength: number, headers: Record<string, string>, decoded = 1000) =>
      new SyntheticLoad()
        .document()
        .answered('doc', { encodedDataLength, headers })
        .received('doc', decoded)
        .ended('doc', 90)
        .requests()[0]!.bodyBytes;
    // The answer of 1200 bytes has 180 of headers and 20 of frames.
    expect(bodyBytes(180, {})).toBe(1020);
    expect(bodyBytes(900, {})).toBe(1000);
    expect(bodyBytes(900, { 'content-encoding': 'br', 'Content-Length': '990' }, 5000)).toBe(990);
    expect(bodyBytes(900, { 'content-encoding': 'br' }, 5000)).toBe(300);
    expect(bodyBytes(900, { 'content-length': '99999' })).toBe(1200);
  });

  it('converts times relative to the request to times relative to the navigation', () => {
    const synthetic = new SyntheticLoad()
      .document()
      .answered('doc', {
        protocol: 'http/1.1',
        remoteIPAddress: '[2001:db8::1]',
        headers: { 'Alt-Svc': 'h3=":443"; ma=60' },
        timing: timing(5, {
          dnsStart: 0,
          dnsEnd: 2,
          connectStart: 2,
          sslStart: 12,
          sslEnd: 30,
          connectEnd: 30,
          sendStart: 31,
          sendEnd: 31,
          receiveHeadersStart: 60,
          receiveHeadersEnd: 61,
        }),
      })
      .ended('doc', 90);
    const { recording } = synthetic.observed();
    expect(recording).toMatchObject({ url: 'https://a.test/', pltMs: 500, browser: 'Chromium 156' });
    expect(recording.recordedAt).toBe('2026-01-01T00:00:00.000Z');
    const [document] = recording.requests;
    expect(document).toMatchObject({
      type: 'document',
      protocol: 'h1',
      remoteIp: '2001:db8::1',
      connectionId: '7',
      offersH3: true,
      transferBytes: 1200,
      bodyBytes: 1000,
      initiator: { kind: 'navigation', requestId: null, source: 'recorded' },
    });
    const expected = { dnsStartMs: 5, dnsEndMs: 7, connectStartMs: 7, secureStartMs: 17 };
    const later = { connectEndMs: 35, requestStartMs: 36, responseStartMs: 65 };
    for (const [phase, at] of Object.entries({ ...expected, ...later })) {
      expect(document!.phases[phase as keyof typeof expected], phase).toBeCloseTo(at, 6);
    }
    expect(document!.startMs).toBeCloseTo(1, 6);
    expect(document!.endMs).toBeCloseTo(90, 6);
  });

  it('makes each hop of a redirect a request', () => {
    const synthetic = new SyntheticLoad().document('https://old.test/');
    synthetic
      .sent('doc', 'https://a.test/', 40, {
        type: 'Document',
        redirectResponse: answer({ status: 301, encodedDataLength: 150 }),
      })
      .answered('doc')
      .ended('doc', 80);
    expect(synthetic.requests()).toMatchObject([
      { type: 'document', status: 301, transferBytes: 150, initiator: { kind: 'navigation' } },
      { type: 'document', status: 200, initiator: { kind: 'redirect', requestId: 0 } },
    ]);
  });

  it('attributes a request to the last arrived script of its stack and async stacks', () => {
    const frame = (url: string) => ({ url, functionName: '', scriptId: '1', lineNumber: 0, columnNumber: 0 });
    const stack = {
      callFrames: [frame('https://a.test/lib.js')],
      parent: { callFrames: [frame('https://a.test/app.js')] },
    };
    const synthetic = new SyntheticLoad().document().answered('doc').ended('doc', 20);
    synthetic.sent('lib', 'https://a.test/lib.js', 30, { type: 'Script' }).ended('lib', 50);
    synthetic.sent('app', 'https://a.test/app.js', 30.5, { type: 'Script' }).ended('app', 90);
    synthetic.sent('data', 'https://a.test/data', 100, {
      type: 'Fetch',
      initiator: { type: 'script', stack },
    });
    expect(synthetic.requests()[3]).toMatchObject({
      type: 'fetch',
      initiator: { kind: 'script', requestId: 2, source: 'recorded' },
    });
  });

  it('distinguishes requests by a stylesheet from those by the parser', () => {
    const synthetic = new SyntheticLoad().document().ended('doc', 20);
    synthetic.sent('css', 'https://a.test/a.css', 30, {
      type: 'Stylesheet',
      initiator: { type: 'parser', url: 'https://a.test/' },
      renderBlockingBehavior: 'Blocking',
    });
    synthetic.ended('css', 40);
    synthetic.sent('font', 'https://a.test/a.woff2', 50, {
      type: 'Font',
      initiator: { type: 'parser', url: 'https://a.test/a.css' },
    });
    const [, css, font] = synthetic.requests();
    expect(css).toMatchObject({ renderBlocking: true, initiator: { kind: 'parser', requestId: 0 } });
    expect(font).toMatchObject({ renderBlocking: null, initiator: { kind: 'style', requestId: 1 } });
  });

  it('uses the priority that a request was sent with', () => {
    const synthetic = new SyntheticLoad().document().ended('doc', 20);
    synthetic.sent('hero', 'https://a.test/hero.png', 30);
    const change = (newPriority: string, atMs: number) =>
      synthetic.observer.receive('Network.resourceChangedPriority', {
        requestId: 'hero',
        newPriority,
        timestamp: (START + atMs) / 1000,
      });
    change('High', 35);
    change('VeryHigh', 60);
    synthetic
      .answered('hero', { timing: timing(30, { sendStart: 10, receiveHeadersEnd: 40 }) })
      .ended('hero', 70);
    expect(synthetic.requests()[1]!.urgency).toBe(1);
  });

  it('marks cached answers, but not revalidated ones', () => {
    const synthetic = new SyntheticLoad().document().ended('doc', 20);
    const kept = { fromDiskCache: true, timing: timing(30, { sendStart: 0, receiveHeadersEnd: 1 }) };
    synthetic.sent('kept', 'https://a.test/kept.png', 30).answered('kept', kept).ended('kept', 31, 0);
    synthetic
      .sent('checked', 'https://a.test/checked.png', 32)
      .answered('checked', kept)
      .ended('checked', 60, 180);
    const [, cached, revalidated] = synthetic.requests();
    expect(cached).toMatchObject({ fromCache: true, protocol: null, connectionId: null, transferBytes: 0 });
    expect(cached!.phases.requestStartMs).toBeNull();
    expect(revalidated).toMatchObject({ fromCache: false, protocol: 'h2', transferBytes: 180 });
  });

  it('leaves out repeats from the memory cache, data URLs, and requests after the load event', () => {
    const synthetic = new SyntheticLoad().document().ended('doc', 20);
    synthetic.sent('one', 'https://a.test/one.png', 30).answered('one').ended('one', 40);
    synthetic.sent('again', 'https://a.test/one.png', 50);
    synthetic.observer.receive('Network.requestServedFromCache', { requestId: 'again' });
    synthetic.sent('data', 'data:image/gif;base64,R0', 60).ended('data', 60);
    synthetic.sent('late', 'https://a.test/late.png', 501).ended('late', 600);
    expect(synthetic.requests().map(({ url }) => url)).toEqual(['https://a.test/', 'https://a.test/one.png']);
  });

  it('lists failed requests with their reasons', () => {
    const synthetic = new SyntheticLoad().document().answered('doc').ended('doc', 20);
    synthetic.sent('gone', 'https://a.test/gone.png', 30).answered('gone', { status: 404 }).ended('gone', 40);
    synthetic.sent('cut', 'https://a.test/cut.png', 30);
    synthetic.observer.receive('Network.loadingFailed', {
      requestId: 'cut',
      timestamp: (START + 45) / 1000,
      errorText: 'net::ERR_FAILED',
      corsErrorStatus: { corsError: 'MissingAllowOriginHeader' },
    });
    const { recording, failed } = synthetic.observed();
    expect(failed).toEqual([
      { url: 'https://a.test/gone.png', reason: 'status 404' },
      { url: 'https://a.test/cut.png', reason: 'net::ERR_FAILED (MissingAllowOriginHeader)' },
    ]);
    expect(recording.requests.map(({ status }) => status)).toEqual([200, 404, 0]);
  });

  it('follows a request from the process that starts it to the one that ends it', () => {
    const synthetic = new SyntheticLoad().document().ended('doc', 20);
    synthetic.sent('frame', 'https://b.test/', 30, { type: 'Document', frameId: 'other' }).answered('frame');
    expect(synthetic.observer.open()).toBe(1);
    synthetic.ended('frame', 60);
    expect(synthetic.observer.open()).toBe(0);
    expect(synthetic.requests()[1]).toMatchObject({ type: 'iframe', transferBytes: 1200 });
  });

  it('counts only open requests that started in time', () => {
    const synthetic = new SyntheticLoad().document().sent('late', 'https://a.test/late', 400);
    expect(synthetic.observer.open(START + 100)).toBe(1);
    expect(synthetic.observer.open()).toBe(2);
  });
});

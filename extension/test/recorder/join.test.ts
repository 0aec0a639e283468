import { NO_PHASES } from '@hopwise/contract';
import { describe, expect, test } from 'vitest';
import { joinRecording, type LoadObservation } from '../../src/recorder/join.ts';
import type { FrameReport } from '../../src/recorder/joined-request.ts';
import { MAX_ENTRIES } from '../../src/recorder/limits.ts';
import { hasCredentials, type ObservedRequest, resourceType } from '../../src/recorder/observed-request.ts';
import { type FrameResource, frameTimingsSchema, type ScriptRun } from '../../src/recorder/page-timings.ts';
import { entry } from '../support/resource-entry.ts';

const T0 = 1_800_000_000_000;
const PAGE = 'https://page.test/';

let serial = 0;
function request(url: string, startedMs: number, more: Partial<ObservedRequest> = {}): ObservedRequest {
  return {
    requestId: `r${serial++}`,
    url,
    method: 'GET',
    type: 'image',
    frameId: 0,
    parentFrameId: -1,
    documentId: 'top',
    parentDocumentId: null,
    startedAt: T0 + startedMs,
    sent: true,
    headersAt: T0 + startedMs + 20,
    endedAt: T0 + startedMs + 30,
    status: 200,
    failedOver: null,
    remoteIp: '192.0.2.1',
    fromCache: false,
    referrer: PAGE,
    credentials: true,
    offersH3: false,
    contentLength: null,
    redirected: false,
    internal: false,
    ...more,
  };
}

/** An entry without Timing-Allow-Origin, of which the browser withholds most fields. */
const WITHHELD: Partial<FrameResource> = {
  domainLookupStart: 0,
  domainLookupEnd: 0,
  connectStart: 0,
  secureConnectionStart: 0,
  connectEnd: 0,
  requestStart: 0,
  responseStart: 0,
  transferSize: 0,
  encodedBodySize: 0,
  decodedBodySize: 0,
  nextHopProtocol: '',
};

function frame(frameId: number, url: string, originMs: number, more: Partial<FrameReport> = {}): FrameReport {
  const report = {
    frameId,
    isTop: frameId === 0,
    url,
    timeOrigin: T0 + originMs,
    navigation: {
      ...entry(url, 2, 60, { initiatorType: 'navigation' }),
      domInteractive: 300,
      domContentLoadedEventEnd: 310,
      loadEventEnd: 900,
    },
    firstContentfulPaint: 120,
    largestContentfulPaint: 480,
    largestContentfulPaintUrl: 'https://shop.test/hero.png#top',
    resources: [],
    scriptRuns: [],
    ...more,
  };
  frameTimingsSchema.parse(report);
  return report;
}

const document_ = (more: Partial<ObservedRequest> = {}) =>
  request(PAGE, 1, { type: 'document', documentId: null, referrer: null, ...more });

function join(requests: ObservedRequest[], frames: FrameReport[], more: Partial<LoadObservation> = {}) {
  const recording = joinRecording({
    requests,
    failures: [],
    frames,
    documentId: 'top',
    browser: 'Chromium 156',
    takenAt: T0 + 2000,
    seesRequests: true,
    seesAllSites: true,
    ...more,
  });
  return { recording, of: (url: string) => recording.requests.find((one) => one.url === url)! };
}

describe('joinRecording', () => {
  test('keeps what other sites served, where the browser hides these requests', () => {
    const other = 'https://other.test/a.js';
    const frames = [frame(0, PAGE, 0, { resources: [entry(other, 70, 120, WITHHELD)] })];
    const requests = [document_()];
    expect(join(requests, frames).of(other)).toBeUndefined();
    expect(join(requests, frames, { seesAllSites: false }).of(other)).toMatchObject({
      startMs: 70,
      endMs: 120,
      status: 200,
      transferBytes: null,
      fromCache: false,
      remoteIp: null,
      offersH3: null,
    });
  });

  test('counts requests that failed because of a protocol, but no beacons, and none that broke after the load', () => {
    const failed = (path: string, more: Partial<ObservedRequest>) =>
      request(`${PAGE}${path}`, 80, { status: 0, headersAt: null, failedOver: 'h3', ...more });
    const requests = [document_(), failed('a.png', {}), failed('b.js', { type: 'script' })];
    const frames = [frame(0, PAGE, 0)];
    expect(join(requests, frames).recording.failedOver).toEqual({ h3: 2 });
    const beacon = failed('end', { type: 'beacon' });
    const stream = failed('stream', { type: 'fetch', endedAt: T0 + 60_000 });
    expect(join([document_(), beacon, stream], frames).recording).not.toHaveProperty('failedOver');
  });

  test('takes the requests of a light recording from the frames alone', () => {
    const inner = 'https://inner.test/frame.html';
    const frames = [
      frame(0, PAGE, 0, {
        resources: [
          entry(`${PAGE}a.js`, 70, 120, { initiatorType: 'script' }),
          entry('https://other.test/b.js', 70, 120, { ...WITHHELD, initiatorType: 'script' }),
          entry('https://blocked.test/c.js', 70, 71, { ...WITHHELD, initiatorType: 'script' }),
          entry('https://fonts.test/css?family=A', 70, 110, {
            initiatorType: 'link',
            renderBlockingStatus: 'blocking',
          }),
          entry(inner, 80, 130, { initiatorType: 'iframe' }),
        ],
      }),
      frame(7, inner, 100, {
        resources: [entry('https://inner.test/d.png', 50, 90, { initiatorType: 'img' })],
      }),
    ];
    const failures = ['https://other.test/b.js'];
    const { recording, of } = join([document_()], frames, { seesRequests: false, failures });
    expect(of('https://other.test/b.js').status).toBe(0);
    expect(of(`${PAGE}a.js`).status).toBe(200);
    expect(recording.requests.map(({ url, type }) => `${type} ${url}`)).toEqual([
      `document ${PAGE}`,
      `script ${PAGE}a.js`,
      'script https://other.test/b.js',
      'style https://fonts.test/css?family=A',
      `iframe ${inner}`,
      'image https://inner.test/d.png',
    ]);
    const frameDocument = of(inner);
    expect(of('https://inner.test/d.png')).toMatchObject({
      startMs: 150,
      initiator: { kind: 'parser', requestId: frameDocument.id },
    });
  });

  test('in Firefox a light recording shows which requests to the page’s own server failed', () => {
    const inFirefox = { nextHopProtocol: '', renderBlockingStatus: '', transferSize: 0, decodedBodySize: 0 };
    const entries = {
      'failed-or-moved.png': entry(`${PAGE}failed-or-moved.png`, 70, 120, WITHHELD),
      'answered.png': entry(`${PAGE}answered.png`, 70, 120),
      'by-worker.png': entry(`${PAGE}by-worker.png`, 70, 120, { ...inFirefox, workerStart: 75 }),
      'failed-in-firefox.png': entry(`${PAGE}failed-in-firefox.png`, 70, 120, inFirefox),
      'moved-in-firefox.png': entry(`${PAGE}moved-in-firefox.png`, 70, 120, { ...WITHHELD, ...inFirefox }),
    };
    const other = entry('https://other.test/withheld.png', 70, 120, WITHHELD);
    const resources = [...Object.values(entries), other];
    const { of } = join([document_()], [frame(0, PAGE, 0, { resources })], { seesRequests: false });
    const statuses = Object.keys(entries).map((path) => [path, of(PAGE + path).status]);
    expect(Object.fromEntries(statuses)).toEqual({
      'failed-or-moved.png': 200,
      'answered.png': 200,
      'by-worker.png': 200,
      'failed-in-firefox.png': 0,
      'moved-in-firefox.png': 200,
    });
    expect(of(`${PAGE}failed-in-firefox.png`).fromCache).toBe(false);
    // The browser then withholds its own server's answers too.
    const sandboxed = [frame(0, PAGE, 0, { resources, isOpaque: true })];
    const shown = join([document_()], sandboxed, { seesRequests: false });
    expect(shown.of(`${PAGE}failed-in-firefox.png`).status).toBe(200);
    expect(of(other.name).status).toBe(200);
  });

  test('leaves out blocked requests, but not resources from memory', () => {
    const blocked = { sent: false, status: 0, headersAt: null };
    const { recording, of } = join(
      [document_(), request(`${PAGE}ad.js`, 70, blocked), request(`${PAGE}twice.png`, 70, blocked)],
      [
        frame(0, PAGE, 0, {
          resources: [
            entry(`${PAGE}ad.js`, 70, 71, WITHHELD),
            entry(`${PAGE}twice.png`, 70, 71, WITHHELD),
            entry(`${PAGE}twice.png`, 90, 91, { transferSize: 0 }),
            entry(`${PAGE}memory.png`, 80, 81, { transferSize: 0 }),
          ],
        }),
      ],
    );
    expect(recording.requests).toHaveLength(3);
    expect(of(`${PAGE}ad.js`)).toBeUndefined();
    expect(of(`${PAGE}twice.png`)).toMatchObject({ startMs: 90, fromCache: true });
    expect(of(`${PAGE}memory.png`)).toMatchObject({ fromCache: true });
  });

  test('is bounded for any number of entries in frames', () => {
    const resources = Array.from({ length: MAX_ENTRIES }, (_, i) => entry(`${PAGE}${i}.png`, 70, 71));
    const frames = [0, 1, 2].map((id) => frame(id, PAGE, 0, { resources }));
    expect(join([document_()], frames).recording.requests).toHaveLength(MAX_ENTRIES);
  });

  test('has no load time before the page has loaded, and no size of a document that is still coming', () => {
    const { navigation } = frame(0, PAGE, 0);
    const loading = { ...navigation!, domContentLoadedEventEnd: 0, loadEventEnd: 0 };
    const alone = { seesRequests: false, documentId: '' };
    const coming = { ...loading, responseEnd: 0, transferSize: 0, encodedBodySize: 0, decodedBodySize: 0 };
    const { recording, of } = join([], [frame(0, PAGE, 0, { navigation: coming })], alone);
    expect(recording.pltMs).toBeNull();
    const sizes = { transferBytes: null, bodyBytes: null, decodedBytes: null };
    expect(of(PAGE)).toMatchObject({ endMs: 2000, fromCache: false, ...sizes });
    const early = { ...navigation!, domContentLoadedEventEnd: 840, loadEventEnd: 1 };
    expect(join([], [frame(0, PAGE, 0, { navigation: early })], alone).recording.pltMs).toBeNull();
  });

  test('takes times, sizes and protocol from the page, status, address and Alt-Svc from webRequest', () => {
    const { recording, of } = join(
      [document_(), request(`${PAGE}a.png`, 70, { offersH3: true })],
      [frame(0, `${PAGE}#part`, 0, { resources: [entry(`${PAGE}a.png`, 71.5, 99)] })],
    );
    expect(recording).toMatchObject({
      url: PAGE,
      browser: 'Chromium 156',
      recordedAt: new Date(T0).toISOString(),
      pltMs: 900,
      domContentLoadedMs: 310,
      firstContentfulPaintMs: 120,
      largestContentfulPaintMs: 480,
      largestContentfulPaintUrl: 'https://shop.test/hero.png',
    });
    expect(recording.requests.map((one) => one.id)).toEqual([0, 1]);
    expect(of(`${PAGE}a.png`)).toEqual({
      id: 1,
      url: `${PAGE}a.png`,
      method: 'GET',
      type: 'image',
      status: 200,
      protocol: 'h2',
      startMs: 71.5,
      endMs: 99,
      phases: {
        ...NO_PHASES,
        requestStartMs: 72.5,
        responseStartMs: 94,
      },
      transferBytes: 1300,
      bodyBytes: 1000,
      decodedBytes: 2500,
      initiator: { kind: 'parser', requestId: 0, source: 'inferred' },
      credentials: true,
      renderBlocking: false,
      fromCache: false,
      connectionId: null,
      remoteIp: '192.0.2.1',
      offersH3: true,
    });
  });

  test('keeps the phases of a new connection', () => {
    const connecting = entry(`${PAGE}a.png`, 70, 200, {
      domainLookupStart: 71,
      domainLookupEnd: 75,
      connectStart: 75,
      secureConnectionStart: 95,
      connectEnd: 130,
    });
    const { of } = join(
      [document_(), request(`${PAGE}a.png`, 70)],
      [frame(0, PAGE, 0, { resources: [connecting] })],
    );
    expect(of(`${PAGE}a.png`).phases).toMatchObject({
      dnsStartMs: 71,
      dnsEndMs: 75,
      connectStartMs: 75,
      secureStartMs: 95,
      connectEndMs: 130,
    });
  });

  test('records null for withheld fields, but takes the body size and the time of the headers from webRequest', () => {
    const url = 'https://cdn.test/x.js';
    const { of } = join(
      [document_(), request(url, 70, { type: 'script', contentLength: 4321 })],
      [frame(0, PAGE, 0, { resources: [entry(url, 70, 150, { ...WITHHELD, initiatorType: 'script' })] })],
    );
    const { phases, ...rest } = of(url);
    const { responseStartMs, ...withheld } = phases;
    expect(responseStartMs).toBe(70 + 20);
    expect(Object.values(withheld)).toEqual(Array(6).fill(null));
    expect(rest).toMatchObject({
      protocol: null,
      transferBytes: null,
      bodyBytes: 4321,
      decodedBytes: null,
      startMs: 70,
      endMs: 150,
    });
  });

  test('shifts the times of an iframe by its own time origin, and starts it when its parent requested it', () => {
    const url = 'https://ad.test/frame';
    const inside = 'https://ad.test/in.png';
    const { of } = join(
      [
        document_(),
        request(url, 100, {
          type: 'iframe',
          frameId: 7,
          parentFrameId: 0,
          documentId: null,
          parentDocumentId: 'top',
        }),
        request(inside, 260, { frameId: 7, parentFrameId: 0, documentId: 'child', parentDocumentId: 'top' }),
      ],
      [
        frame(0, PAGE, 0, { resources: [entry(url, 98, 190, { ...WITHHELD, initiatorType: 'iframe' })] }),
        frame(7, url, 110, { resources: [entry(inside, 150, 180)] }),
      ],
    );
    expect(of(url)).toMatchObject({ startMs: 98, endMs: 170, protocol: 'h2' });
    expect(of(url).phases.requestStartMs).toBe(113);
    expect(of(inside)).toMatchObject({ startMs: 260, endMs: 290 });
    expect(of(inside).initiator).toMatchObject({ kind: 'parser', requestId: of(url).id });
  });

  test('keeps every hop of a redirect, and assigns the timings to the last', () => {
    const hop = { requestId: 'moved', redirected: true, status: 302, endedAt: T0 + 90 };
    const { recording } = join(
      [document_(), request(`${PAGE}old`, 70, hop), request(`${PAGE}new`, 90, { requestId: 'moved' })],
      [frame(0, PAGE, 0, { resources: [entry(`${PAGE}old`, 91, 120)] })],
    );
    expect(recording.requests.slice(1)).toMatchObject([
      { url: `${PAGE}old`, status: 302, startMs: 70, endMs: 90, protocol: null },
      {
        url: `${PAGE}new`,
        status: 200,
        startMs: 91,
        endMs: 120,
        protocol: 'h2',
        initiator: { kind: 'redirect', requestId: 1 },
      },
    ]);
  });

  test('leaves out a redirect that the browser made internally', () => {
    const { recording } = join(
      [
        document_({
          requestId: 'nav',
          url: 'http://page.test/',
          redirected: true,
          internal: true,
          status: 307,
        }),
        document_({ requestId: 'nav' }),
      ],
      [frame(0, PAGE, 0)],
    );
    expect(recording.requests.map((one) => one.url)).toEqual([PAGE]);
  });

  test('pairs a request that the page delayed for long with its entry', () => {
    const url = `${PAGE}many.png`;
    const { recording } = join(
      [document_(), request(url, 6000, { endedAt: T0 + 6100 })],
      [frame(0, PAGE, 0, { resources: [entry(url, 80, 6090)] })],
    );
    expect(recording.requests.slice(1)).toMatchObject([{ startMs: 80, endMs: 6090, protocol: 'h2' }]);
  });

  test('pairs as many entries as requests of one URL in order, others by their end', () => {
    const url = `${PAGE}poll`;
    const times = (requests: ObservedRequest[], resources: FrameResource[]) =>
      join([document_(), ...requests], [frame(0, PAGE, 0, { resources })])
        .recording.requests.slice(1)
        .map(({ startMs, endMs, protocol }) => [startMs, endMs, protocol]);
    const requests = [request(url, 80, { type: 'fetch' }), request(url, 500, { type: 'fetch' })];
    expect(times(requests, [entry(url, 503, 530), entry(url, 82, 100)])).toEqual([
      [82, 100, 'h2'],
      [503, 530, 'h2'],
    ]);
    // One entry too many: the first came from memory.
    expect(times(requests.slice(1), [entry(url, 82, 100), entry(url, 503, 530)])).toEqual([[503, 530, 'h2']]);
  });

  test('records a request once when the page measures a repeated use again', () => {
    const url = `${PAGE}many.png`;
    const once = request(url, 80, { endedAt: T0 + 100 });
    const recorded = (again: FrameResource) =>
      join([document_(), once], [frame(0, PAGE, 0, { resources: [entry(url, 80, 100), again] })])
        .recording.requests.slice(1)
        .map(({ startMs, endMs }) => [startMs, endMs]);
    expect(recorded(entry(url, 900, 900, { transferSize: 0 }))).toEqual([[80, 100]]);
    expect(recorded(entry(url, 80, 100))).toEqual([[80, 100]]);
  });

  test('assigns the timings of a frame to its last document', () => {
    const [before, after] = ['https://ad.test/before', 'https://ad.test/after'];
    const navigation = {
      type: 'iframe' as const,
      frameId: 7,
      parentFrameId: 0,
      parentDocumentId: 'top',
      documentId: null,
    };
    const { of } = join(
      [document_(), request(before, 100, navigation), request(after, 300, navigation)],
      [frame(0, PAGE, 0), frame(7, after, 310)],
    );
    expect(of(before)).toMatchObject({ startMs: 100, protocol: null });
    expect(of(after)).toMatchObject({ startMs: 312, protocol: 'h2' });
  });

  test('leaves out requests of the previous document, keeps those of the page’s own frames', () => {
    const { recording } = join(
      [
        document_(),
        request('https://old.test/beacon', 20, { documentId: 'before', type: 'beacon' }),
        request('https://ad.test/deep.png', 90, {
          documentId: 'grandchild',
          parentDocumentId: 'child',
          frameId: 9,
        }),
        request('https://ad.test/in.png', 95, { documentId: 'child', parentDocumentId: 'top', frameId: 8 }),
      ],
      [frame(0, PAGE, 0)],
    );
    expect(recording.requests.map((one) => one.url)).toEqual([
      PAGE,
      'https://ad.test/deep.png',
      'https://ad.test/in.png',
    ]);
  });

  test('records resources that never reached the network as cached, and cached responses without bytes', () => {
    const hit = `${PAGE}hit.png`;
    const memory = `${PAGE}memory.png`;
    const { of } = join(
      [document_(), request(hit, 70, { fromCache: true })],
      [
        frame(0, PAGE, 0, {
          resources: [entry(hit, 70, 80, { transferSize: 0 }), entry(memory, 90, 91, { transferSize: 0 })],
        }),
      ],
    );
    expect(of(hit)).toMatchObject({ fromCache: true, transferBytes: 0, bodyBytes: 0 });
    expect(of(memory)).toMatchObject({ fromCache: true, status: 200, type: 'image' });
  });

  test('keeps what a service worker fetched as come over the network, without the protocol and the bytes on the wire that the browser hides', () => {
    const byWorker = { workerStart: 70, transferSize: 0, nextHopProtocol: '', deliveryType: 'cache' };
    const kept = `${PAGE}kept.js`;
    const fetched = `${PAGE}fetched.js`;
    const resources = [
      entry(kept, 70, 90, byWorker),
      entry(fetched, 71, 900, { ...byWorker, encodedBodySize: 2500 }),
    ];
    const { of } = join([document_()], [frame(0, PAGE, 0, { resources })], { seesRequests: false });
    expect(of(kept)).toMatchObject({ fromCache: true, transferBytes: 0 });
    expect(of(fetched)).toMatchObject({
      fromCache: false,
      protocol: null,
      transferBytes: null,
      bodyBytes: null,
      decodedBytes: 2500,
      phases: { ...NO_PHASES, responseStartMs: 895 },
    });
  });

  test('does not take a document that was prefetched for one that the load transferred', () => {
    const { navigation } = frame(0, PAGE, 0);
    const top = frame(0, PAGE, 0, {
      navigation: {
        ...navigation!,
        deliveryType: 'navigational-prefetch',
        responseEnd: 0,
        transferSize: 500_400,
      },
    });
    for (const requests of [[], [document_()]]) {
      expect(join(requests, [top]).recording.requests).toMatchObject([
        { type: 'document', fromCache: true, transferBytes: 0, bodyBytes: 0, decodedBytes: 2500 },
      ]);
    }
  });

  test('keeps a request that is still running, and a page that never fired load', () => {
    const { recording, of } = join(
      [document_(), request(`${PAGE}slow.png`, 70, { endedAt: null, headersAt: null, status: 0 })],
      [frame(0, PAGE, 0, { navigation: { ...frame(0, PAGE, 0).navigation!, loadEventEnd: 0 } })],
    );
    expect(recording.pltMs).toBeNull();
    expect(of(`${PAGE}slow.png`)).toMatchObject({ status: 0, endMs: 2000, bodyBytes: null });
  });

  test('leaves out requests cancelled before they reached the network, keeps those that failed there', () => {
    const { recording } = join(
      [
        document_(),
        request(`${PAGE}blocked.js`, 70, { sent: false, status: 0, headersAt: null }),
        request(`${PAGE}failed.js`, 71, { status: 0, headersAt: null }),
      ],
      [frame(0, PAGE, 0)],
    );
    expect(recording.requests.map(({ url, status }) => [url, status])).toEqual([
      [PAGE, 200],
      [`${PAGE}failed.js`, 0],
    ]);
  });

  test('takes the request for the page itself from the page’s timings where nobody listened to the navigation', () => {
    const framed = frame(3, PAGE, 60);
    const resources = [entry(PAGE, 50, 90, { initiatorType: 'iframe' }), entry(`${PAGE}a.js`, 70, 80)];
    const { requests } = join([], [frame(0, PAGE, 0, { resources }), framed]).recording;
    expect(requests.map(({ type, url, status, initiator }) => [type, url, status, initiator.kind])).toEqual([
      ['document', PAGE, 200, 'navigation'],
      ['iframe', PAGE, 200, expect.any(String)],
      ['image', `${PAGE}a.js`, 200, expect.any(String)],
    ]);
  });

  test('takes the documents of frames from these where the page’s timings do not list them, and each once', () => {
    const [moved, target] = ['https://ad.test/moved', 'https://cdn.test/target'];
    const [first, second] = [`${PAGE}first`, `${PAGE}second`];
    const [written, image] = ['about:srcdoc', `${PAGE}in-second.png`];
    const iframe = { initiatorType: 'iframe' };
    const resources = [entry(moved, 100, 160, { ...WITHHELD, ...iframe }), entry(first, 101, 120, iframe)];
    const { requests } = join(
      [],
      [
        frame(0, PAGE, 0, { resources }),
        frame(3, target, 108),
        // A script of the first document led to it.
        frame(4, second, 125, { resources: [entry(image, 70, 90)] }),
        frame(5, PAGE, 130, { navigation: { ...frame(0, PAGE, 0).navigation!, name: written } }),
      ],
      { seesRequests: false },
    ).recording;
    expect(requests.map(({ type, url, startMs }) => [type, url, startMs])).toEqual([
      ['document', PAGE, 2],
      ['iframe', moved, 100],
      ['iframe', first, 101],
      ['iframe', second, 127],
      ['image', image, 195],
    ]);
    expect(requests.slice(3).map(({ initiator }) => [initiator.kind, initiator.requestId])).toEqual([
      ['script', 0],
      ['parser', 3],
    ]);
  });

  test('throws without the top frame', () => {
    expect(() => join([document_()], [])).toThrow('navigation timing');
  });
});

describe('initiators', () => {
  const css = `${PAGE}a.css`;
  const js = `${PAGE}a.js`;
  const cdnCss = 'https://cdn.test/b.css';
  const font = `${PAGE}f.woff2`;
  const styles = [request(css, 70, { type: 'style' }), request(cdnCss, 71, { type: 'style' })];
  const script = request(js, 70, { type: 'script' });
  const loaded = [
    entry(css, 70, 100, { initiatorType: 'link' }),
    entry(cdnCss, 71, 102, { initiatorType: 'link' }),
    entry(js, 70, 110, { initiatorType: 'script' }),
  ];
  const joined = (one: ObservedRequest, timing: FrameResource, more: Partial<FrameReport> = {}) => {
    const top = frame(0, PAGE, 0, { resources: [...loaded, timing], ...more });
    const { of } = join([document_(), ...styles, script, one], [top]);
    const { initiator } = of(one.url);
    return { ...initiator, from: [PAGE, css, js, cdnCss].find((url) => of(url).id === initiator.requestId) };
  };
  const run = (url: string, endMs: number, more: Partial<ScriptRun> = {}) => ({
    url,
    startMs: Math.max(0, endMs - 40),
    endMs,
    inserted: false,
    deferred: false,
    ...more,
  });

  test('a stylesheet of the same origin is identified by the Referer', () => {
    const one = request(font, 130, { type: 'font', referrer: css });
    expect(joined(one, entry(font, 130, 150, { initiatorType: 'css' }))).toMatchObject({
      kind: 'style',
      source: 'recorded',
      from: css,
    });
  });

  test('a stylesheet of another origin is inferred from the origin in the Referer', () => {
    const url = 'https://cdn.test/f.woff2';
    const one = request(url, 130, { type: 'font', referrer: 'https://cdn.test/' });
    expect(joined(one, entry(url, 130, 150, { initiatorType: 'css' }))).toMatchObject({
      kind: 'style',
      source: 'inferred',
      from: cdnCss,
    });
  });

  test('a module is identified by the Referer', () => {
    const url = `${PAGE}import.js`;
    const one = request(url, 130, { type: 'script', referrer: js });
    expect(joined(one, entry(url, 130, 150, { initiatorType: 'other' }))).toMatchObject({
      kind: 'script',
      source: 'recorded',
      from: js,
    });
  });

  const data = `${PAGE}data`;
  const fetched = (atMs: number, scriptRuns: ScriptRun[]) =>
    joined(request(data, atMs, { type: 'fetch' }), entry(data, atMs, atMs + 20, { initiatorType: 'fetch' }), {
      scriptRuns,
    });

  test('a fetch is initiated by the script that was running', () => {
    expect(fetched(130, [run(js, 140)])).toMatchObject({ kind: 'script', source: 'inferred', from: js });
  });

  test('a script cannot have been running before it arrived', () => {
    // a.js arrives at 110.
    expect(fetched(100, [run(js, 140)])).toMatchObject({ kind: 'script', from: PAGE });
  });

  test('a deferred script runs only after the parser has ended', () => {
    // The parser ends at 300.
    expect(fetched(130, [run(js, 400, { startMs: 100, deferred: true })])).toMatchObject({ from: PAGE });
    expect(fetched(350, [run(js, 400, { startMs: 100, deferred: true })])).toMatchObject({ from: js });
  });

  test('an inline script stands for its document', () => {
    expect(fetched(150, [run(js, 140), run('', 160)])).toMatchObject({ kind: 'script', from: PAGE });
  });

  test('between scripts a fetch is initiated by the script that ran last', () => {
    expect(fetched(160, [run(js, 140)])).toMatchObject({ kind: 'script', from: js });
    expect(fetched(110, [run(js, 140, { startMs: 120 })])).toMatchObject({ kind: 'script', from: PAGE });
  });

  test.each([0, 0.1, 0.3, 0.7, 0.9])(
    'a fetch at the very end of a run is made by its script (origin %s)',
    (at) => {
      const other = `${PAGE}other.js`;
      const { recording, of } = join(
        [
          document_(),
          script,
          request(other, 132, { type: 'script' }),
          request(data, 160.1, { type: 'fetch' }),
        ],
        [
          frame(0, PAGE, at, {
            resources: [
              ...loaded,
              entry(other, 132, 150, { initiatorType: 'script' }),
              entry(data, 160.1, 180, { initiatorType: 'fetch' }),
            ],
            scriptRuns: [run(js, 140), run(other, 160.1, { startMs: 155, inserted: true })],
          }),
        ],
      );
      expect(recording.requests[of(data).initiator.requestId!]!.url).toBe(other);
    },
  );

  test('right after a response arrives a fetch is initiated by the script that waited for it', () => {
    const [first, other] = [`${PAGE}first`, `${PAGE}other.js`];
    const { recording, of } = join(
      [
        document_(),
        script,
        request(first, 130, { type: 'fetch' }),
        request(other, 132, { type: 'script' }),
        request(data, 203, { type: 'fetch' }),
      ],
      [
        frame(0, PAGE, 0, {
          resources: [
            ...loaded,
            entry(first, 130, 200, { initiatorType: 'fetch' }),
            entry(other, 132, 150, { initiatorType: 'script' }),
            entry(data, 203, 220, { initiatorType: 'fetch' }),
          ],
          scriptRuns: [run(js, 140), run(other, 180, { startMs: 160 })],
        }),
      ],
    );
    expect(recording.requests[of(data).initiator.requestId!]!.url).toBe(js);
  });

  test.each([
    ['the parser', { by: 'parser', scriptUrl: null } as const, 'parser', PAGE, 'recorded'],
    ['a script', { by: 'script', scriptUrl: js } as const, 'script', js, 'recorded'],
    ['an inline script', { by: 'script', scriptUrl: '' } as const, 'script', PAGE, 'recorded'],
    ['an unknown script', { by: 'script', scriptUrl: null } as const, 'script', js, 'inferred'],
    [
      'a script that is not recorded',
      { by: 'script', scriptUrl: `${PAGE}?` } as const,
      'script',
      js,
      'inferred',
    ],
  ])('an element that %s has inserted shows the initiator', (_, maker, kind, from, source) => {
    const url = `${PAGE}x.png`;
    const found = joined(request(url, 130), entry(url, 130, 150, { maker }), { scriptRuns: [run(js, 140)] });
    expect(found).toMatchObject({ kind, from, source });
  });

  test('of a module and its imports the initiator is the last to arrive', () => {
    const imported = `${PAGE}imported.js`;
    const { recording, of } = join(
      [
        document_(),
        script,
        request(imported, 112, { type: 'script', referrer: js }),
        request(data, 350, { type: 'fetch' }),
      ],
      [
        frame(0, PAGE, 0, {
          resources: [
            ...loaded,
            entry(imported, 112, 130),
            entry(data, 350, 370, { initiatorType: 'fetch' }),
          ],
          scriptRuns: [run(js, 400, { startMs: 100, deferred: true })],
        }),
      ],
    );
    expect(recording.requests[of(data).initiator.requestId!]!.url).toBe(imported);
  });

  test('an inserted script is initiated by a script also while the parser is at work', () => {
    const url = `${PAGE}inserted.js`;
    const inserted = (inserted: boolean) =>
      joined(request(url, 130, { type: 'script' }), entry(url, 130, 150, { initiatorType: 'script' }), {
        scriptRuns: [run(js, 140), run(url, 160, { inserted })],
      });
    expect(inserted(true)).toMatchObject({ kind: 'script', from: js });
    expect(inserted(false)).toMatchObject({ kind: 'parser', from: PAGE });
  });

  test('an image is initiated by a running script only after the parser has ended', () => {
    const url = `${PAGE}x.png`;
    const image = (atMs: number, endMs: number) =>
      joined(request(url, atMs), entry(url, atMs, atMs + 20), { scriptRuns: [run(js, endMs)] });
    expect(image(130, 140)).toMatchObject({ kind: 'parser', from: PAGE, source: 'inferred' });
    expect(image(500, 510)).toMatchObject({ kind: 'script', from: js });
    // A lazy image.
    expect(image(500, 400)).toMatchObject({ kind: 'parser', from: PAGE });
  });

  test('a preload is distinguished from a stylesheet link', () => {
    const url = `${PAGE}x.png`;
    expect(joined(request(url, 130), entry(url, 130, 150, { initiatorType: 'link' }))).toMatchObject({
      kind: 'preload',
      from: PAGE,
    });
  });
});

test.each([
  ['an image or a script', undefined, undefined, true],
  ['a form of the same site', 'https://cdn.test', undefined, true],
  ['a font or module of another site', 'https://page.test', undefined, false],
  ['a sandboxed frame', 'null', undefined, false],
  ['a CORS request that includes cookies', 'https://page.test', 'id=1', true],
])('credentials of %s', (_, origin, cookie, expected) => {
  expect(hasCredentials('https://cdn.test/x', { origin, cookie })).toBe(expected);
});

test('resource types of webRequest that recordings do not have become "other"', () => {
  expect(resourceType('main_frame')).toBe('document');
  expect(resourceType('webbundle')).toBe('other');
});

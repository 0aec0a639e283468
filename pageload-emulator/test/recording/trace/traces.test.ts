import { parseRecording, predict, RecordingBytes, readRecording } from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../../../scripts/suites/draw-share.ts';
import { EventBytes } from '../../../src/recording/json/event-bytes.ts';
import { EVENT_NAMES } from '../../../src/recording/trace/trace-events.ts';
import { event, NOISE, navigation, request, traceEvents } from '../../support/traces.ts';

const METADATA = {
  source: 'DevTools',
  startTime: '2026-01-05T10:00:00Z',
  traceEvents: 'none',
  list: [[1], {}],
};
const traced = (events: readonly object[]) => ({ metadata: METADATA, traceEvents: events });

describe('a Chrome trace', () => {
  const recording = parseRecording(traced(traceEvents()));

  it('is a recording of its page load', () => {
    expect(recording).toMatchObject({
      url: 'https://a.test/',
      recordedAt: '2026-01-05T10:00:00.000Z',
      pltMs: 300,
      domContentLoadedMs: 210,
      firstContentfulPaintMs: 215,
      largestContentfulPaintMs: 290,
    });
    const rows = recording.requests.map((each) => [
      each.url,
      each.type,
      each.startMs,
      each.endMs,
      each.transferBytes,
    ]);
    expect(rows).toEqual([
      // 4 + 60 + 80 + 20
      ['https://a.test/', 'document', 4, 164, 20_000],
      // 150 + 5 + 40 + 10
      ['https://a.test/a.css', 'style', 150, 205, 8_000],
      ['https://a.test/api', 'fetch', 220, 270, 900],
      ['https://ad.test/', 'iframe', 230, 280, 900],
      ['https://a.test/i.png', 'image', 240, 241, 0],
    ]);
    expect(recording.requests[0]).toMatchObject({
      protocol: 'h2',
      connectionId: '7',
      offersH3: true,
      urgency: 1,
      phases: {
        connectStartMs: 4,
        secureStartMs: 34,
        connectEndMs: 64,
        requestStartMs: 64,
        responseStartMs: 144,
      },
    });
    expect(recording.requests[1]).toMatchObject({ renderBlocking: true, phases: { requestStartMs: 155 } });
    expect(recording.requests[2]!.initiator).toEqual({ kind: 'script', requestId: 0, source: 'recorded' });
    expect(recording.requests[4]).toMatchObject({ fromCache: true, protocol: null });
    expect(predict(recording).page.requests).toBe(4);
  });

  it('may be an array of events, and have events that are not as Chrome writes them', () => {
    expect(parseRecording(traceEvents())).toEqual(recording);
    const odd = [event('ResourceFinish', 1, { finishTime: 'x' }), { name: 'loadEventEnd' }, 5, null];
    expect(parseRecording(traced([...traceEvents(), ...NOISE, ...odd] as object[]))).toEqual(recording);
  });

  it('of several navigations is taken from as a HAR of several pages', () => {
    const second = request({
      id: '9',
      url: 'https://b.test/',
      type: 'Document',
      mimeType: 'text/html',
      issuedMs: 9_000,
      waitMs: 40,
      receiveMs: 10,
      bytes: 900,
    });
    const events = [
      ...traceEvents(),
      navigation('https://b.test/', 9_000),
      ...second,
      event('loadEventEnd', 9_100, {}),
    ];
    expect(parseRecording(traced(events))).toEqual(recording);
    const { recording: other } = readRecording(traced(events), { page: 2 });
    expect(other).toMatchObject({ url: 'https://b.test/', pltMs: 100 });
  });

  it('has redirects as requests that were sent on', () => {
    const [sent, ...rest] = request({
      id: '1',
      url: 'https://a.test/x.js',
      type: 'Script',
      mimeType: 'text/javascript',
      issuedMs: 220,
      waitMs: 30,
      receiveMs: 10,
      bytes: 900,
    });
    const hop = event('ResourceSendRequest', 200, { requestId: '1', url: 'https://b.test/x', frame: 'F1' });
    const document = traceEvents()
      .slice(0, 4)
      .map((each) => JSON.parse(JSON.stringify(each).replace('"1"', '"0"')));
    const { requests } = parseRecording(traced([...document, hop, sent!, ...rest]));
    expect(requests.slice(1).map(({ url, status, initiator }) => [url, status, initiator.kind])).toEqual([
      ['https://b.test/x', 302, 'other'],
      ['https://a.test/x.js', 200, 'redirect'],
    ]);
  });

  it('has what answered where its document was redirected over other origins, all of them announced at once', () => {
    const [began, sent, ...rest] = traceEvents() as { ts: number }[];
    const hop = (url: string) => ({
      ...event('ResourceSendRequest', 0, { requestId: '1', url, frame: 'F1', resourceType: 'Document' }),
      ts: sent!.ts,
    });
    const hops = [hop('https://a.test/'), hop('https://b.test/'), hop('https://a.test/')];
    expect(parseRecording(traced([began!, ...hops, sent!, ...rest]))).toEqual(recording);
  });

  it('ends a load with the page that the browser shows for an error', () => {
    const shown = event('navigationStart', 2_000, {
      documentLoaderURL: 'chrome-error://chromewebdata/',
      navigationId: 'N2',
      isOutermostMainFrame: true,
    });
    const late = [shown, event('loadEventEnd', 2_100, {}), event('firstContentfulPaint', 2_050, {})];
    expect(parseRecording(traced([...traceEvents(), ...late]))).toEqual(recording);
    const unnamed = event('navigationStart', 10, { documentLoaderURL: '', isOutermostMainFrame: true });
    expect(parseRecording(traced([...traceEvents(), unnamed]))).toEqual(recording);
  });

  const expectNoNavigation = (events: object[]) =>
    expect(() => parseRecording(traced(events))).toThrow(
      "traceEvents: expected the page's navigation with its URL, got none: the trace begins after the navigation, or its Chrome is too old; record a reload",
    );

  it.each([
    ['the flag of today', { isOutermostMainFrame: false }],
    ['the flag of older traces', { isLoadingMainFrame: false }],
  ])('that begins after the navigation is refused, and takes no frame for the page: %s', (_words, flag) => {
    const frames = { documentLoaderURL: 'https://ads.test/', navigationId: 'N9', ...flag };
    const late = [event('navigationStart', 90, frames, 'F2'), ...traceEvents().slice(1)];
    expectNoNavigation(late);
  });

  it('of 2018, which names no navigation by its URL, is refused for that', () => {
    const [, ...rest] = traceEvents();
    expectNoNavigation([event('navigationStart', 0, {}), ...rest]);
  });

  it('without requests is named', () => {
    expect(() => parseRecording(traced(NOISE))).toThrow('traceEvents: expected requests, got none');
  });
});

describe('a trace’s file', () => {
  const kept = (text: string, pieces: readonly number[]) => {
    const parts: Uint8Array[] = [];
    const keep = (name: string, event: readonly Uint8Array[]) => (EVENT_NAMES.has(name) ? [event] : []);
    const trace = new EventBytes({ list: 'traceEvents', kindField: 'name', keep }, (bytes) =>
      parts.push(bytes.slice()),
    );
    const bytes = new TextEncoder().encode(text);
    let from = 0;
    for (const length of pieces) {
      trace.add(bytes.subarray(from, from + length));
      from += length;
    }
    trace.add(bytes.subarray(from));
    return JSON.parse(Buffer.concat(parts).toString());
  };

  it('is kept without the events that do not count, for all divisions into pieces', () => {
    const some = traceEvents().slice(0, 4);
    const texts = fc.record({
      events: fc.shuffledSubarray([...some, ...NOISE]),
      isFirst: fc.boolean(),
      space: fc.constantFrom(0, 1),
      pieces: fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 12 }),
    });
    fc.assert(
      fc.property(texts, ({ events, isFirst, space, pieces }) => {
        const file = isFirst ? { traceEvents: events, metadata: METADATA } : traced(events);
        const own = events.filter((each) => !NOISE.includes(each));
        expect(kept(JSON.stringify(file, null, space), pieces)).toEqual({ ...file, traceEvents: own });
      }),
      { numRuns: countRuns(70, 200) },
    );
  });

  it('may have a hundred thousand events', () => {
    const noise = JSON.stringify(event('RunTask', 1, { list: [1, 2, { name: 'x' }] }));
    const text = `{"metadata":{},"traceEvents":[${`${noise},`.repeat(150_000)}${traceEvents().map((each) => JSON.stringify(each))}]}`;
    expect(text.length).toBeGreaterThan(20 * 1024 * 1024);
    const file = new RecordingBytes();
    file.add(new TextEncoder().encode(text));
    const recording = parseRecording(file.end((bytes) => new TextDecoder().decode(bytes)));
    expect(recording.requests).toHaveLength(5);
  });
});

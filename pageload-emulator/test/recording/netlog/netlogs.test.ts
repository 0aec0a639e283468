import { parseRecording, predict, RecordingBytes, readRecording } from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../../../scripts/suites/draw-share.ts';
import {
  beginRequest,
  event,
  type LoggedEvent,
  logEvents,
  logged,
  NOISE,
  packet,
  request,
} from '../../support/netlogs.ts';

/** The file's JSON, in pieces of these lengths and a last one. */
function kept(text: string, pieces: readonly number[] = []): string {
  const file = new RecordingBytes();
  const bytes = new TextEncoder().encode(text);
  let from = 0;
  for (const length of pieces) {
    file.add(bytes.subarray(from, from + length));
    from += length;
  }
  file.add(bytes.subarray(from));
  return file.end((json) => new TextDecoder().decode(json));
}

describe('a NetLog', () => {
  const recording = parseRecording(logged(logEvents()));

  it('is a recording of its page load, without a load event', () => {
    expect(recording).toMatchObject({
      url: 'https://a.test/',
      browser: 'Chromium 156.0.1.2',
      recordedAt: '2026-01-05T10:00:00.000Z',
      pltMs: null,
      missing: 'load-event',
    });
    const rows = recording.requests.map((each) => [
      each.url,
      each.type,
      each.protocol,
      each.startMs,
      each.endMs,
      each.bodyBytes,
      each.decodedBytes,
    ]);
    expect(rows).toEqual([
      // 74 to connect, 80 to wait, 20 to receive
      ['https://a.test/', 'document', 'h2', 0, 174, 20_000, 60_000],
      ['https://a.test/a.css', 'style', 'h2', 155, 210, 8_000, 24_000],
      ['https://cdn.test/i.png', 'image', 'h3', 160, 250, 9_000, 27_000],
    ]);
    expect(predict(recording).page.requests).toBe(3);
  });

  it('tells how connections were opened, in the first request on each', () => {
    expect(
      recording.requests.map(({ phases, connectionId, remoteIp }) => [connectionId, remoteIp, phases]),
    ).toEqual([
      [
        '22',
        '192.0.2.1',
        {
          dnsStartMs: 4,
          dnsEndMs: 14,
          connectStartMs: 14,
          secureStartMs: 44,
          connectEndMs: 74,
          requestStartMs: 74,
          responseStartMs: 154,
        },
      ],
      ['22', '192.0.2.1', expect.objectContaining({ connectStartMs: null, requestStartMs: 160 })],
      [
        '31',
        '192.0.2.1',
        expect.objectContaining({ connectStartMs: 170, secureStartMs: 170, connectEndMs: 200 }),
      ],
    ]);
  });

  it('tells priorities and offers of HTTP/3', () => {
    expect(recording.requests.map(({ urgency, offersH3 }) => [urgency, offersH3])).toEqual([
      [0, true],
      [1, false],
      [3, false],
    ]);
  });

  it('tells how many packets over QUIC were lost, by the gaps in their numbers', () => {
    const handshake = packet(7, 190, 'IETF_QUIC_LONG_HEADER_PACKET');
    const arrived = [0, 1, 2, 5, 4, 8, 9].map((number) => packet(number, 240));
    const log = logged([...logEvents(), handshake, ...arrived]);
    // 3, and 6 with 7
    const quicPackets = { sent: 10, lossEvents: 2 };
    expect(parseRecording(log)).toEqual({ ...recording, quicPackets });
    expect(parseRecording(kept(JSON.stringify(log)))).toEqual({ ...recording, quicPackets });
    expect(recording).not.toHaveProperty('quicPackets');
  });

  it('tells when an HTTP/2 session sent a request, which a busy browser hears of late', () => {
    const dispatched = event(23, 'HTTP2_SESSION_SEND_HEADERS', 166, {
      source_dependency: { id: 24, type: 1 },
    });
    const { requests } = parseRecording(logged([...logEvents(), dispatched]));
    expect(requests[1]!.phases).toMatchObject({ requestStartMs: 166, responseStartMs: 200 });
  });

  it('began with the connection for its document, which a browser opens while it prepares the request', () => {
    const late = logEvents().map((each) =>
      each.source.id === 2 && Number(each.time) < 400_020
        ? { ...each, time: '400020', source: { ...each.source, start_time: '400020' } }
        : each,
    );
    const { recordedAt, requests } = parseRecording(logged(late));
    expect(recordedAt).toBe('2026-01-05T10:00:00.004Z');
    expect(requests[0]).toMatchObject({ startMs: 0, phases: { connectStartMs: 10, connectEndMs: 70 } });
  });

  it('has no round trip of a connection that had begun to be opened before', () => {
    const ahead = logEvents().map((each) =>
      each.source.id === 4 && Number(each.time) < 400_180
        ? { ...each, time: '400180', source: { ...each.source, start_time: '400180' } }
        : each,
    );
    const { requests } = parseRecording(logged(ahead));
    expect(requests[2]).toMatchObject({
      startMs: 180,
      phases: { connectStartMs: null, requestStartMs: 200 },
    });
  });

  it('of several pages is taken from by number and URL, each with what its tab asked for', () => {
    const other = { tabSite: 'https://b.test' };
    const events = [
      ...logEvents(),
      ...request({
        id: 50,
        url: 'https://b.test/',
        issuedMs: 300,
        connectedMs: 310,
        waitMs: 40,
        receiveMs: 10,
        bytes: 900,
        mimeType: 'text/html',
        via: 51,
        isMainFrame: true,
        destination: 'document',
        ...other,
      }),
      ...request({
        id: 52,
        url: 'https://a.test/late.js',
        issuedMs: 330,
        connectedMs: 335,
        waitMs: 40,
        receiveMs: 10,
        bytes: 900,
        mimeType: 'text/javascript',
        via: 24,
        destination: 'script',
      }),
    ];
    const { notes, recording: first } = readRecording(logged(events));
    expect(first.requests.map(({ url }) => url)).toEqual([
      'https://a.test/',
      'https://a.test/a.css',
      'https://cdn.test/i.png',
      'https://a.test/late.js',
    ]);
    expect(notes[0]).toBe('2 pages in the file: took the first (https://a.test/, 4 requests)');
    for (const page of [2, 'https://b.test/']) {
      const { requests } = readRecording(logged(events), { page }).recording;
      expect(requests.map(({ url }) => url)).toEqual(['https://b.test/']);
    }
  });

  it('has redirects, those of the browser itself included, as requests of their own', () => {
    const [alive, begun] = beginRequest(2, 'http://a.test/', 0, { isMainFrame: true });
    const rest = request({
      id: 2,
      url: 'https://a.test/',
      issuedMs: 1,
      connectedMs: 74,
      waitMs: 80,
      receiveMs: 20,
      bytes: 20_000,
      mimeType: 'text/html',
      via: 21,
      isMainFrame: true,
      destination: 'document',
    }).slice(1);
    const { url, requests } = parseRecording(logged([alive!, begun!, ...rest]));
    expect(url).toBe('https://a.test/');
    expect(requests.map((each) => [each.url, each.status, each.initiator.kind])).toEqual([
      ['http://a.test/', 307, 'navigation'],
      ['https://a.test/', 200, 'redirect'],
    ]);
  });

  it('has what came from the cache, what failed, and not what asked the cache alone in vain', () => {
    const fails = (id: number, url: string, net_error: number): LoggedEvent[] => [
      ...beginRequest(id, url, 180),
      event(id, 'URL_REQUEST_START_JOB', 190, { net_error }, 'end'),
      event(id, 'REQUEST_ALIVE', 190, { net_error }, 'end'),
    ];
    const cached = [
      ...beginRequest(60, 'https://a.test/cached.png', 180),
      event(60, 'HTTP_TRANSACTION_READ_BODY', 182, undefined, 'end'),
      event(60, 'REQUEST_ALIVE', 182, undefined, 'end'),
    ];
    const { requests } = parseRecording(
      logged([
        ...logEvents(),
        ...cached,
        ...fails(61, 'https://a.test/font.woff2', -400),
        ...fails(62, 'https://gone.test/', -101),
      ]),
    );
    expect(requests.slice(3).map(({ url, status, fromCache }) => [url, status, fromCache])).toEqual([
      ['https://a.test/cached.png', 200, true],
      ['https://gone.test/', 0, false],
    ]);
  });

  it('has what was under way as it ended as unanswered', () => {
    const waits = (id: number) => [
      ...beginRequest(id, `https://a.test/${id}.js`, 230),
      event(id, 'HTTP_STREAM_REQUEST', 230, undefined, 'begin'),
    ];
    const sent = [
      event(71, 'HTTP_STREAM_REQUEST', 231, undefined, 'end'),
      event(71, 'HTTP_TRANSACTION_SEND_REQUEST', 231, undefined, 'begin'),
      event(71, 'HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS', 231, { headers: [] }),
    ];
    const { requests } = parseRecording(logged([...logEvents(), ...waits(70), ...waits(71), ...sent]));
    expect(requests.slice(3).map(({ status, fromCache }) => [status, fromCache])).toEqual([
      [0, false],
      [0, false],
    ]);
  });

  it('of an older Chromium tells the tab’s document by its flags alone, and knows other names', () => {
    const old = JSON.parse(
      JSON.stringify(logged(logEvents()))
        .replaceAll('"request_type":"main frame"', '"load_flags":256')
        .replaceAll(/"request_type":"other",|"network_isolation_key":"[^"]*",?/g, '')
        .replaceAll(/,\}/g, '}')
        .replaceAll('"QUIC_SESSION_POOL_JOB', '"QUIC_STREAM_FACTORY_JOB'),
    );
    const { requests } = parseRecording(old);
    // Nothing parts what the browser asked for by itself from the page's own.
    expect(requests.filter(({ url }) => !url.includes('update'))).toMatchObject(
      recording.requests.map(({ url, phases }) => ({ url, phases })),
    );
  });

  it('without a page’s document is refused in one line', () => {
    const late = logEvents().filter(({ source }) => source.id !== 2);
    expect(() => parseRecording(logged(late))).toThrow(
      "events: expected a page's document, got none: begin the log before the page is loaded",
    );
  });

  it('may have events that are not as Chromium writes them', () => {
    const odd = [null, 5, { type: 1e9 }, { ...event(2, 'FAILED', 5), time: 'x' }, { type: 11 }];
    expect(parseRecording(logged([...logEvents(), ...NOISE, ...odd] as object[]))).toEqual(recording);
  });
});

describe('a NetLog’s file', () => {
  const recording = parseRecording(logged(logEvents()));

  it('gives the same recording, for all divisions into pieces', () => {
    const files = fc.record({
      noise: fc.array(fc.constantFrom(...NOISE), { maxLength: 5 }),
      space: fc.constantFrom(0, 1),
      pieces: fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 12 }),
    });
    fc.assert(
      fc.property(files, ({ noise, space, pieces }) => {
        const text = JSON.stringify(logged([...noise, ...logEvents()]), null, space);
        expect(parseRecording(kept(text, pieces))).toEqual(recording);
      }),
      { numRuns: countRuns(40, 150) },
    );
  });

  it('keeps the error with which a body ended, and no event that is not as Chromium writes it', () => {
    const [alive, begun] = beginRequest(80, 'https://a.test/gone.js', 240);
    const failed = event(80, 'HTTP_TRANSACTION_READ_BODY', 245, { net_error: -101 }, 'end');
    const part = event(3, 'URL_REQUEST_JOB_FILTERED_BYTES_READ', 205, { byte_count: 5_000 });
    const odd = { ...part, source: { ...part.source, start_time: null } };
    const log = logged([...logEvents(), alive!, begun!, failed, odd]);
    const whole = parseRecording(log);
    expect(whole.requests.map(({ status, decodedBytes }) => [status, decodedBytes])).toEqual([
      [200, 60_000],
      [200, 24_000],
      [200, 27_000],
      [0, null],
    ]);
    expect(parseRecording(kept(JSON.stringify(log)))).toEqual(whole);
  });

  it('may end amid an event, as that of a browser that was killed', () => {
    const lines = [...logEvents(), ...NOISE].map((each) => JSON.stringify(each));
    const text = `{"constants":${JSON.stringify(logged([]).constants)},\n"events": [\n${lines.join(',\n')},\n{"params":{"by`;
    expect(parseRecording(kept(text))).toEqual(recording);
  });

  it('may have a hundred thousand packets, and parts of bodies', () => {
    const part = [
      ...NOISE,
      event(3, 'HTTP2_STREAM_UPDATE_RECV_WINDOW', 210, { delta: -10, stream_id: 1 }),
      event(3, 'HTTP_TRANSACTION_READ_BODY', 210, undefined, 'end'),
    ];
    const parts = `,${part.map((each) => JSON.stringify(each)).join(',')}`.repeat(100_000);
    const text = JSON.stringify(logged(logEvents())).replace(
      '],"polledData"',
      () => `${parts}],"polledData"`,
    );
    const { requests } = parseRecording(kept(text));
    expect(requests).toHaveLength(3);
    expect(requests[1]).toMatchObject({ endMs: 210, bodyBytes: 1_008_000 });
  });

  it('that does not begin with its constants is kept as it is', () => {
    const { constants, events } = logged(logEvents());
    expect(parseRecording(kept(JSON.stringify({ events, constants })))).toEqual(recording);
  });
});

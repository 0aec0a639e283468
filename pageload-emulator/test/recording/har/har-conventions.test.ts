import { parseRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, type HarTimings, harOf } from '../../support/hars.ts';

const PAGE = 'https://a.test/';

/** A request of a load, milliseconds. */
interface Request {
  path: string;
  /** When it was issued. */
  issueMs: number;
  /** From its issue to the network stack's first step on it. */
  queuedMs: number;
  /** From then on. */
  timings: HarTimings & { blocked: number };
}

const DOCUMENT: Request = {
  path: '',
  issueMs: 0,
  queuedMs: 4,
  timings: { blocked: 1, connect: 60, ssl: 30, wait: 50, receive: 200 },
};

/** Images that the parser finds 150 ms into the load, which wait for each other for up to 1.4 s. */
const IMAGES = [0, 200, 800, 1_400].map(
  (queuedMs, index): Request => ({
    path: `${index}.png`,
    issueMs: 150,
    queuedMs,
    timings: { blocked: 2 + index, wait: 40, receive: 10 },
  }),
);

type Writer = (request: Request) => { startedMs: number; timings: object; uncountedMs?: number };

/** Ways to write one request. */
const WRITERS: Record<string, Writer> = {
  'chrome-har: queueing before startedDateTime': ({ issueMs, queuedMs, timings }) => ({
    startedMs: issueMs + queuedMs,
    timings: { ...timings, _queued: queuedMs },
  }),
  'queueing in blocked, and named': ({ issueMs, queuedMs, timings }) => ({
    startedMs: issueMs,
    timings: { ...timings, blocked: queuedMs + timings.blocked, _queued: queuedMs },
  }),
  'DevTools: queueing in blocked': ({ issueMs, queuedMs, timings }) => ({
    startedMs: issueMs,
    timings: { ...timings, blocked: queuedMs + timings.blocked, _blocked_queueing: queuedMs },
  }),
  'queueing between startedDateTime and blocked': ({ issueMs, queuedMs, timings }) => ({
    startedMs: issueMs,
    timings: { ...timings, _queued: queuedMs },
    uncountedMs: queuedMs,
  }),
};

function entryOf(request: Request, write: Writer): object {
  const { startedMs, timings, uncountedMs = 0 } = write(request);
  const initiator = request === DOCUMENT ? { type: 'other' } : { type: 'parser', url: PAGE };
  const type = request === DOCUMENT ? 'document' : 'image';
  const entry = chromiumEntry(PAGE + request.path, startedMs, timings, {
    _initiator: initiator,
    _resourceType: type,
  }) as { time: number };
  return { ...entry, time: entry.time + uncountedMs };
}

const read = (requests: readonly Request[], write: Writer) =>
  parseRecording(harOf(requests.map((request) => entryOf(request, write)))).requests;

describe('queueing of requests', () => {
  const load = [DOCUMENT, ...IMAGES];

  it.each(Object.entries(WRITERS))('is read from %s', (_, write) => {
    const requests = read(load, write);
    const times = requests.map(({ startMs, phases, endMs }) => [startMs, phases.requestStartMs, endMs]);
    expect(times).toEqual([
      // 4 + 1 + 60 = 65; + 50 + 200 = 315
      [0, 65, 315],
      // 150 + queued + blocked, then + 40 + 10
      [150, 152, 202],
      [150, 353, 403],
      [150, 954, 1_004],
      [150, 1_555, 1_605],
    ]);
  });

  it('lies before the start when some wait exceeds blocked, whatever the creator is called', () => {
    const write = WRITERS['chrome-har: queueing before startedDateTime']!;
    const har = harOf(load.map((request) => entryOf(request, write))) as { log: { creator: object } };
    har.log.creator = { name: 'WebInspector', version: '537.36' };
    expect(parseRecording(har).requests.map(({ startMs }) => startMs)).toEqual([0, 150, 150, 150, 150]);
  });

  it('lies in blocked when a request would otherwise precede the response that names it', () => {
    // One image: issued at 150 ms, after the document began at 115 ms, and queued for 100 ms within 160 ms of blocked.
    const image: Request = { path: 'i.png', issueMs: 150, queuedMs: 100, timings: { blocked: 60, wait: 40 } };
    const document = { ...DOCUMENT, queuedMs: 0 };
    expect(read([document, image], WRITERS['queueing in blocked, and named']!)[1]!.startMs).toBe(150);
  });

  it('of the first request shifts no other where the file lists no pages', () => {
    const write = WRITERS['chrome-har: queueing before startedDateTime']!;
    const { requests } = parseRecording(load.map((request) => entryOf(request, write)));
    expect(requests.map(({ startMs }) => startMs)).toEqual([0, 150, 150, 150, 150]);
  });
});

describe('order of requests', () => {
  const image = (path: string, issueMs: number, queuedMs = 0): Request => ({
    ...IMAGES[0]!,
    path,
    issueMs,
    queuedMs,
  });
  const startsOf = (images: Request[], write: Writer) =>
    read([DOCUMENT, ...images], write)
      .slice(1)
      .map(({ url, startMs }) => [url.slice(PAGE.length), startMs]);

  it('is that of the file where starts differ by less than their rounding', () => {
    // b's start is written as 157, cut from 157.4 or so: less its queueing of 7.4 that is 149.6, before a's 150.
    expect(
      startsOf(
        [image('a', 150), image('b', 149.6, 7.4)],
        WRITERS['chrome-har: queueing before startedDateTime']!,
      ),
    ).toEqual([
      ['a', 150],
      ['b', 150],
    ]);
  });

  it('is that of the starts where these differ by more', () => {
    expect(startsOf([image('a', 152), image('b', 150)], WRITERS['DevTools: queueing in blocked']!)).toEqual([
      ['b', 150],
      ['a', 152],
    ]);
  });
});

describe('time that no phase accounts for', () => {
  const read = (timings: HarTimings) => {
    const plain = chromiumEntry(PAGE, 0, timings) as { time: number };
    const { phases, endMs } = parseRecording(harOf([{ ...plain, time: plain.time + 40 }])).requests[0]!;
    return [phases.connectStartMs, phases.requestStartMs, phases.responseStartMs, endMs];
  };

  it('was a wait for a connection where bodies are timed', () => {
    expect(read({ connect: 60, wait: 50, receive: 10 })).toEqual([40, 100, 150, 160]);
    expect(read({ blocked: -1, wait: 50, receive: 10 })).toEqual([null, 40, 90, 100]);
  });

  it('was that of the body where none is timed', () => {
    expect(read({ connect: 60, wait: 50, receive: -1 })).toEqual([0, 60, 110, 150]);
  });
});

describe('sending', () => {
  const requestStart = (bodySize: number) => {
    const entry = chromiumEntry(PAGE, 0, { connect: 60, send: 30, wait: 50 }) as { request: object };
    return parseRecording(harOf([{ ...entry, request: { ...entry.request, bodySize } }])).requests[0]!.phases;
  };

  it('of a request without a body is at its end: what came before was a wait for its dispatch', () => {
    expect(requestStart(0)).toMatchObject({ requestStartMs: 90, responseStartMs: 140 });
  });

  it('of a body takes its time', () => {
    expect(requestStart(40_000)).toMatchObject({ requestStartMs: 60, responseStartMs: 140 });
  });
});

describe('TLS', () => {
  const readPhases = (creator: string, browser: string, timings: HarTimings) => {
    const har = harOf([chromiumEntry(PAGE, 0, timings)]) as { log: object };
    Object.assign(har.log, { creator: { name: creator }, browser: { name: browser } });
    const { phases, endMs } = parseRecording(har).requests[0]!;
    return [phases.connectStartMs, phases.secureStartMs, phases.connectEndMs, endMs];
  };

  it('lies within connect or after it, as its length shows', () => {
    expect(readPhases('Playwright', 'chromium', { connect: 60, ssl: 31, wait: 50 })).toEqual([
      0, 29, 60, 110,
    ]);
    expect(readPhases('Playwright', 'firefox', { connect: 60, ssl: 31, wait: 50 })).toEqual([0, 29, 60, 110]);
    expect(readPhases('Firefox', 'Firefox', { connect: 29, ssl: 31, wait: 50 })).toEqual([0, 29, 60, 110]);
    expect(readPhases('Proxy', '', { connect: 29, ssl: 31, wait: 50 })).toEqual([0, 29, 60, 110]);
  });

  it('is not counted twice where the recorder adds it to the total, as Playwright does', () => {
    const entry = chromiumEntry(PAGE, 0, { connect: 60, ssl: 31, wait: 50 }) as { time: number };
    const [request] = parseRecording(harOf([{ ...entry, time: entry.time + 31 }])).requests;
    expect(request!.endMs).toBe(110);
  });
});

describe('TLS', () => {
  const connectEnd = (timings: HarTimings, timeMs: number) => {
    const entry = { ...chromiumEntry(PAGE, 0, timings), time: timeMs };
    return parseRecording(harOf([entry])).requests[0]!.phases.connectEndMs;
  };

  it('lies beside connecting where an entry counts both into its time, as mitmproxy does', () => {
    // 52 + 51 + 55 = 158
    expect(connectEnd({ connect: 52, ssl: 51, wait: 55 }, 158)).toBe(103);
    expect(connectEnd({ connect: 52, ssl: 51, wait: 55 }, 107)).toBe(52);
  });

  it('lies where it can where entries have no time of their own', () => {
    expect(connectEnd({ connect: 52, ssl: 51, wait: 55 }, 0)).toBe(103);
    expect(connectEnd({ connect: 103, ssl: 51, wait: 55 }, 0)).toBe(103);
  });

  it('lies within connecting where that is much longer, although Playwright counts TLS twice', () => {
    // 60 + 30 + 55 = 145
    expect(connectEnd({ connect: 60, ssl: 30, wait: 55 }, 145)).toBe(60);
  });

  it('is all of connecting where TCP ends on the machine itself, although Playwright counts it twice', () => {
    const entry = { ...chromiumEntry(PAGE, 0, { connect: 240, ssl: 240, wait: 55 }), time: 535 };
    const har = harOf([entry]) as { log: object };
    const read = (name: string) => {
      Object.assign(har.log, { creator: { name } });
      return parseRecording(har).requests[0]!;
    };
    // 240 + 55 = 295
    expect(read('Playwright')).toMatchObject({ endMs: 295, phases: { secureStartMs: 0, connectEndMs: 240 } });
    expect(read('mitmproxy').phases.connectEndMs).toBe(480);
  });

  it('goes on after a request with early data had left over HTTP/3, which tells nothing of other entries', () => {
    const first = { ...chromiumEntry(PAGE, 0, { connect: 60, ssl: 30, wait: 50 }), time: 110 };
    const early = chromiumEntry('https://b.test/', 120, { connect: 0.5, ssl: 37, wait: 50 }) as Record<
      string,
      object
    >;
    const overH3 = { ...early, response: { ...early.response, httpVersion: 'h3' }, time: 50.5 };
    const [document, other] = parseRecording(harOf([first, overH3 as object])).requests;
    expect(document).toMatchObject({ endMs: 110, phases: { secureStartMs: 30, connectEndMs: 60 } });
    expect(other).toMatchObject({ endMs: 170.5, phases: { connectStartMs: null, requestStartMs: 120.5 } });
  });

  it('was set up before mitmproxy had read the request, or connecting was within the wait', () => {
    const read = (timings: HarTimings) => {
      const first = { ...chromiumEntry(PAGE, 0, { wait: 50, ssl: -1 }), time: 50 };
      const other = { ...chromiumEntry(`${PAGE}a.js`, 500, timings), time: 160 };
      const har = harOf([first, other]) as { log: object };
      Object.assign(har.log, { creator: { name: 'mitmproxy' } });
      const { startMs, endMs, phases } = parseRecording(har).requests[1]!;
      return [startMs, phases.connectEndMs, phases.responseStartMs, endMs];
    };
    // Its time is 40 + 60 + 50 + 10.
    expect(read({ connect: 40, ssl: 60, wait: 50, receive: 10 })).toEqual([400, 500, 550, 560]);
    // 40 of 110 + 10
    expect(read({ connect: 40, ssl: -1, wait: 110, receive: 10 })).toEqual([500, 540, 610, 620]);
  });

  it('was set up in a tunnel before BrowserMob Proxy had read the request', () => {
    const read = (url: string, timings: HarTimings) => {
      const first = { ...chromiumEntry(PAGE, 0, { wait: 50, ssl: -1 }), time: 50 };
      const har = harOf([first, chromiumEntry(url, 500, timings)]) as { log: object };
      Object.assign(har.log, { creator: { name: 'BrowserMob Proxy' } });
      const { startMs, endMs, phases } = parseRecording(har).requests[1]!;
      return [startMs, phases.connectStartMs, phases.connectEndMs, phases.responseStartMs, endMs];
    };
    // 500 - 2 - 8 - 90 = 400
    expect(read(`${PAGE}a.js`, { blocked: 2, dns: 8, connect: 90, ssl: 60, wait: 50, receive: 10 })).toEqual([
      400, 410, 500, 550, 560,
    ]);
    // TCP takes no longer than TLS: the tunnel was open, and waited for a request.
    expect(read(`${PAGE}a.js`, { blocked: 0, dns: 8, connect: 400, ssl: 60, wait: 50, receive: 10 })).toEqual(
      [500, null, null, 550, 560],
    );
    expect(
      read('http://a.test/a.js', { blocked: 2, dns: 8, connect: 30, ssl: -1, wait: 50, receive: 10 }),
    ).toEqual([500, 510, 540, 590, 600]);
  });

  it('is all of connecting over HTTP/3, although Playwright counts it twice', () => {
    const entry = chromiumEntry(PAGE, 0, { connect: 50, ssl: 50, wait: 55 }) as Record<string, object>;
    const overH3 = { ...entry, response: { ...entry.response, httpVersion: 'h3' }, time: 155 };
    const [request] = parseRecording(harOf([overH3 as object])).requests;
    // 50 + 55 = 105
    expect(request).toMatchObject({ endMs: 105, phases: { secureStartMs: 0, connectEndMs: 50 } });
  });
});

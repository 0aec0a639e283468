import { InputError, parseRecording, predict, readRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, harOf, START } from '../../support/hars.ts';

const SITE = 'https://a.test/';
const GUESS = 'the load is guessed to end with the last response that could hold it up, after';

type Request = { url: string; headers: { name: string; value: string }[] };

/** A request with headers. */
function entry(url: string, startMs: number, headers: Record<string, string>, extra: object = {}): object {
  const plain = chromiumEntry(url, startMs, { wait: 50, receive: 10 }, extra) as { request: Request };
  const list = Object.entries(headers).map(([name, value]) => ({ name, value }));
  return { ...plain, request: { ...plain.request, headers: list } };
}

const image = (url: string, startMs: number, headers: Record<string, string> = {}) =>
  entry(url, startMs, headers, {
    response: { status: 200, content: { size: 9_000, mimeType: 'image/png' }, bodySize: 9_000 },
  });

const DOCUMENT = { 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Mode': 'navigate' };
const FRAME = { 'Sec-Fetch-Dest': 'iframe', 'Sec-Fetch-Mode': 'navigate' };
const ASKED = { _initiator: { type: 'other' }, _resourceType: 'document' };

/** Two page views, the second from 9 s on. */
function twoViews(document: (url: string, startMs: number) => object): object[] {
  const view = (url: string, from: number) => [
    document(url, from),
    ...[100, 200].map((ms) => image(`${url}${ms}.png`, from + ms, { Referer: url })),
  ];
  return [...view(SITE, 0), ...view(`${SITE}cart/`, 9_000)];
}

const urlsOf = (har: object, page?: number | string) =>
  readRecording(har, page === undefined ? {} : { page }).recording.requests.map(({ url }) => url);

describe('several navigations in one page', () => {
  const kinds: [string, (url: string, startMs: number) => object][] = [
    ['by Fetch Metadata', (url, ms) => entry(url, ms, DOCUMENT)],
    ['by what the browser itself asked for', (url, ms) => entry(url, ms, {}, ASKED)],
    ['by the requests that name it, after a silence', (url, ms) => entry(url, ms, {})],
  ];

  it.each(kinds)('are parted %s', (_, document) => {
    const { recording, notes } = readRecording(harOf(twoViews(document), {}));
    expect(recording.requests.map(({ url }) => url)).toEqual([SITE, `${SITE}100.png`, `${SITE}200.png`]);
    expect(notes).toEqual([
      '2 navigations in page "page_1": took the first (https://a.test/, 3 requests)',
      `no load event in the file: ${GUESS} 260 ms`,
      'used 3 of 6 requests: 3 belonged to other pages',
    ]);
  });

  it('have the load event that falls in them, which counts from the start of the page', () => {
    const har = harOf(twoViews(kinds[0]![1]), { onLoad: 9_700, onContentLoad: 9_400 });
    expect(parseRecording(har)).toMatchObject({ url: SITE, pltMs: null });
    const { recording, notes } = readRecording(har, { page: 2 });
    expect(recording).toMatchObject({ url: `${SITE}cart/`, pltMs: 700, domContentLoadedMs: 400 });
    expect(recording.requests.map(({ startMs }) => startMs)).toEqual([0, 100, 200]);
    expect(notes[0]).toBe('2 navigations in page "page_1": took number 2 (https://a.test/cart/, 3 requests)');
    const early = readRecording(harOf(twoViews(kinds[0]![1]), { onLoad: 600 })).recording;
    expect(early).toMatchObject({ url: SITE, pltMs: 600 });
  });

  it('begin with the page that follows a demand for credentials, which its visitor took time to type', () => {
    const asking = (startMs: number) => {
      const made = entry(SITE, startMs, DOCUMENT) as { response: object };
      return { ...made, response: { ...made.response, status: 401 } };
    };
    const after = (typedMs: number) => {
      const shown = [entry(SITE, typedMs, DOCUMENT), image(`${SITE}1.png`, typedMs + 100, { Referer: SITE })];
      return readRecording(harOf([asking(0), ...shown], { onLoad: typedMs + 300 }));
    };
    const { recording, notes } = after(8_000);
    expect(recording).toMatchObject({ url: SITE, pltMs: 300 });
    expect(recording.requests.map(({ startMs }) => startMs)).toEqual([0, 100]);
    expect(notes[0]).toContain('took number 2, the first that was answered');
    // At once, by what the browser keeps: all of it is one load, and no script's doing.
    const kept = after(60);
    expect(kept.recording.requests).toHaveLength(3);
    expect(kept.notes).toEqual([]);
    // Nothing follows one whose visitor gave up.
    expect(readRecording(harOf([asking(0)], { onLoad: 100 })).recording.requests).toHaveLength(1);
  });

  it('are parted where a page is loaded again, by the frame that Playwright names or by what browsers ask for pages with', () => {
    const again = (extra: object, headers: Record<string, string>) =>
      urlsOf(
        harOf([
          entry(SITE, 0, headers, { _resourceType: 'document', _frameref: 'frame@1' }),
          image(`${SITE}a.png`, 100, { Referer: SITE }),
          entry(SITE, 4_000, headers, { _resourceType: 'document', ...extra }),
          image(`${SITE}a.png`, 4_100, { Referer: SITE }),
        ]),
      ).length;
    expect(again({ _frameref: 'frame@1' }, {})).toBe(2);
    expect(again({ _frameref: 'frame@2' }, {})).toBe(4);
    expect(again({}, { Accept: 'text/html,application/xhtml+xml' })).toBe(2);
    expect(again({}, { Accept: '*/*' })).toBe(4);
  });

  it('can be chosen by number or URL', () => {
    const har = harOf(twoViews(kinds[0]![1]), { onLoad: 9_700 });
    expect(urlsOf(har, 1)[0]).toBe(SITE);
    expect(urlsOf(har, 2)[0]).toBe(`${SITE}cart/`);
    expect(urlsOf(har, `${SITE}cart/#top`)[0]).toBe(`${SITE}cart/`);
    for (const page of [0, 3, 1.5, 'https://b.test/']) {
      expect(() => urlsOf(har, page)).toThrow(
        new InputError(
          `page: expected one of the file's (1 https://a.test/, 2 https://a.test/cart/), got ${JSON.stringify(page)}`,
        ),
      );
    }
  });

  it('are none where a frame is late, a redirect leads on, or the page itself sends its visitor on', () => {
    const redirect = entry(SITE, 0, DOCUMENT) as { response: object };
    redirect.response = { ...redirect.response, status: 302, redirectURL: '/home' };
    for (const entries of [
      [entry(SITE, 0, DOCUMENT), entry(`${SITE}ad`, 9_000, FRAME), image(`${SITE}i.png`, 9_100)],
      [redirect, entry(`${SITE}home`, 9_000, DOCUMENT), image(`${SITE}i.png`, 9_100)],
      [entry(SITE, 0, DOCUMENT), entry(`${SITE}home`, 300, DOCUMENT), image(`${SITE}i.png`, 9_100)],
    ]) {
      expect(urlsOf(harOf(entries, { onLoad: 9_500 }))).toHaveLength(3);
    }
  });
});

/** A redirect by an answer that seems to be a page. */
const hop = (url: string, startMs: number, redirectURL: string) => {
  const answer = { status: 302, redirectURL, content: { size: 0, mimeType: 'text/html' } };
  return { ...chromiumEntry(url, startMs, { wait: 20 }), response: answer };
};

describe('a navigation', () => {
  it('ends with what its redirects name, not with a page that began in between', () => {
    const advert = entry('https://ads.test/frame', 10, {});
    const { recording } = readRecording(
      harOf([hop('http://a.test/', 0, SITE), advert, hop(SITE, 30, '/home'), entry(`${SITE}home`, 60, {})]),
    );
    expect(recording.url).toBe(`${SITE}home`);
    expect(recording.requests.map(({ type }) => type)).toEqual([
      'document',
      'iframe',
      'document',
      'document',
    ]);
  });

  it.each<[string, object, number]>([
    ['without content', { status: 204, content: { size: 0, mimeType: '' } }, 0],
    ['without content, said to be HTML', { status: 204, content: { size: 0, mimeType: 'text/html' } }, 0],
    ['to be saved', { status: 200, content: { size: 9, mimeType: 'application/octet-stream' } }, 0],
    ['to be saved, by a redirect', { status: 200, content: { size: 9, mimeType: 'application/x-crx' } }, 1],
  ])('is not what a browser asked for by itself before, %s', (_, response, hops) => {
    const url = 'http://update.test/';
    const before = [
      ...(hops === 0 ? [] : [hop('http://go.test/', -300, url)]),
      { ...chromiumEntry(url, -200, {}), response },
    ];
    const { recording } = readRecording([...before, entry(SITE, 0, {}), image(`${SITE}i.png`, 100)]);
    expect(recording.requests.map(({ url }) => url)).toEqual([SITE, `${SITE}i.png`]);
  });

  it('is not what got no answer before', () => {
    const url = 'https://tiles.test/t.json';
    const response = { status: 200, statusText: 'NO RESPONSE', content: { size: 0, mimeType: '' } };
    const before = { ...chromiumEntry(url, -200, {}), response };
    const { recording } = readRecording([before, entry(SITE, 0, {}), image(`${SITE}i.png`, 100)]);
    expect(recording.requests.map(({ url }) => url)).toEqual([SITE, `${SITE}i.png`]);
  });

  it('leads to an answer of no known type, whatever a test calls the page', () => {
    const untyped = { status: 200, content: { size: 9_000, mimeType: '' } };
    const target = { ...chromiumEntry(SITE, 50, {}), response: untyped };
    const har = harOf([hop('http://go.test/', 0, SITE), target, image(`${SITE}i.png`, 200)], {}) as {
      log: { pages: { title: string }[] };
    };
    har.log.pages[0]!.title = 'http://localhost:8004';
    const { recording } = readRecording(har);
    expect(recording.missing).not.toBe('navigation');
    expect(recording.requests.slice(0, 2).map(({ url, type }) => [url, type])).toEqual([
      ['http://go.test/', 'document'],
      [SITE, 'document'],
    ]);
  });

  it('begins with the redirects to its document, after requests of the page before', () => {
    const bye = chromiumEntry('https://old.test/bye', -20, {}, { _resourceType: 'ping' });
    const entries = [
      bye,
      hop('http://a.test/', 0, SITE),
      hop(SITE, 30, '/home'),
      entry(`${SITE}home`, 60, DOCUMENT),
    ];
    expect(urlsOf(harOf(entries))).toEqual(['http://a.test/', SITE, `${SITE}home`]);
  });
});

describe('several pages', () => {
  const har = harOf([
    chromiumEntry(SITE, 0, {}, { pageref: 'page_1' }),
    chromiumEntry('https://b.test/', 0, {}, { pageref: 'page_2' }),
  ]) as { log: { pages: object[] } };
  har.log.pages.push({ id: 'page_2', startedDateTime: START, pageTimings: { onLoad: 80 } });

  it('can be chosen by number or URL', () => {
    for (const page of [2, 'https://b.test/', 'HTTPS://B.test']) {
      const { recording, notes } = readRecording(har, { page });
      expect(recording).toMatchObject({ url: 'https://b.test/', pltMs: 80 });
      expect(notes[0]).toBe('2 pages in the file: took number 2 (https://b.test/, 1 request)');
    }
  });
});

describe('pages that are the requests of a file', () => {
  const view = [entry(SITE, 0, DOCUMENT), image(`${SITE}a.png`, 100), image(`${SITE}b.png`, 110)];
  const listed = (pageTimings: object, others: object[] = []) => {
    const entries = [...view, ...others] as { startedDateTime: string; request: Request }[];
    const pages = view.map((each, index) => {
      const { startedDateTime, request } = each as (typeof entries)[number];
      return { id: `page_${index + 1}`, title: request.url, startedDateTime, pageTimings };
    });
    return { log: { pages, entries } };
  };

  it('are none: all are of one load', () => {
    const { recording, notes } = readRecording(listed({ onLoad: -1, onContentLoad: -1 }));
    expect(recording.requests).toHaveLength(3);
    expect(notes.join()).toContain('3 pages in the file, none of which has the requests of a page load');
  });

  it('are pages where they have times, or requests of other URLs', () => {
    expect(urlsOf(listed({ onLoad: 90 }))).toEqual([SITE]);
    expect(urlsOf(listed({}, [image(`${SITE}c.png`, 120)]))).toEqual([SITE]);
  });
});

describe('frames that a file lists as pages', () => {
  const FRAME = 'https://ads.test/f';
  const frameAt = (startMs: number, extra: object = {}, headers: Record<string, string> = {}) =>
    entry(FRAME, startMs, headers, { pageref: 'page_2', ...extra });
  const AD = { type: 'image', pageref: 'page_2' };
  const read = (frame: object, pageTimings: object = {}, beganMs = 300) => {
    const own = [entry(SITE, 0, {}, { pageref: 'page_1' }), image(`${SITE}a.png`, 60)];
    const ad = { ...image('https://ads.test/a.png', beganMs + 60), ...AD };
    const har = harOf([...own, frame, ad]) as { log: { pages: object[] } };
    const startedDateTime = new Date(Date.parse(START) + beganMs).toISOString();
    har.log.pages.push({ id: 'page_2', startedDateTime, title: FRAME, pageTimings });
    return readRecording(har);
  };

  it.each([
    ['without a load event, begun before that of the page', {}, frameAt(300)],
    ['without a document of its own', { onLoad: -1 }, { ...image('https://ads.test/b.png', 300), ...AD }],
    ['that the parser found', {}, frameAt(300, { _initiator: { type: 'parser', url: SITE } })],
    [
      'with a load event, requested as frames are',
      { onLoad: 90 },
      frameAt(300, {}, { 'Sec-Fetch-Dest': 'iframe' }),
    ],
  ])('are of the page that they are in: %s', (_, pageTimings, frame) => {
    const { recording, notes } = read(frame, pageTimings);
    expect(notes).toEqual([]);
    expect(recording).toMatchObject({ url: SITE, pltMs: 500 });
    expect(recording.requests.map(({ startMs }) => startMs)).toEqual([0, 60, 300, 360]);
    expect(recording.requests.map(({ type }) => type).slice(1)).not.toContain('document');
  });

  it('are of it where they are listed before it, as begun with it', () => {
    const own = [entry(SITE, 0, {}, { pageref: 'page_1' }), image(`${SITE}a.png`, 60)];
    const har = harOf([...own, frameAt(300)]) as { log: { pages: { startedDateTime: string }[] } };
    const { startedDateTime } = har.log.pages[0]!;
    har.log.pages.unshift({ id: 'page_2', title: FRAME, pageTimings: {}, startedDateTime } as {
      startedDateTime: string;
    });
    const { recording, notes } = readRecording(har);
    expect(notes).toEqual([]);
    expect(recording).toMatchObject({ url: SITE, pltMs: 500 });
    expect(recording.requests).toHaveLength(3);
  });

  it.each([
    ['has a load event', { onLoad: 90 }, frameAt(300), 300],
    ['begins after the load event', {}, frameAt(600), 600],
    ['was requested for a tab', {}, frameAt(300, {}, { 'Sec-Fetch-Dest': 'document' }), 300],
    [
      'was requested by the browser',
      {},
      frameAt(300, { _initiator: { type: 'other' }, _resourceType: 'document' }),
      300,
    ],
    ['was fetched ahead', {}, frameAt(300, {}, { 'Sec-Purpose': 'prefetch;prerender' }), 300],
  ])('are not another page, which %s', (_, pageTimings, frame, beganMs) => {
    const { recording, notes } = read(frame, pageTimings, beganMs);
    expect(recording.requests).toHaveLength(2);
    expect(notes[0]).toBe(`2 pages in the file: took the first (${SITE}, 2 requests)`);
  });
});

describe('a page whose document is not in the file', () => {
  const named = { _initiator: { type: 'parser', url: SITE } };
  const frame = { _initiator: { type: 'parser', url: SITE }, _resourceType: 'document', pageref: 'page_1' };
  const entries = [
    chromiumEntry(`${SITE}a.css`, 270, {}, { ...named, _resourceType: 'stylesheet', pageref: 'page_1' }),
    chromiumEntry(`${SITE}a.js`, 280, {}, { ...named, _resourceType: 'script', pageref: 'page_1' }),
    chromiumEntry('https://ads.test/f', 420, {}, frame),
  ];

  it('keeps its requests, and is named by who they come from', () => {
    const { recording, notes } = readRecording(harOf(entries, { onLoad: 700 }));
    expect(recording.url).toBe(SITE);
    expect(recording.requests.map(({ type, startMs }) => [type, startMs])).toEqual([
      ['style', 270],
      ['script', 280],
      ['iframe', 420],
    ]);
    expect(recording.missing).toBeUndefined();
    expect(notes).toEqual(["the page's document is not in the file"]);
    expect(predict(recording).page).toMatchObject({ url: SITE, requests: 3 });
  });

  it('is named by its recorder, and parted from what began before it', () => {
    const bye = chromiumEntry('https://old.test/bye', -50, {}, { _resourceType: 'ping', pageref: 'page_1' });
    const har = harOf([bye, ...entries], { onLoad: 700 }) as { log: { pages: { title: string }[] } };
    har.log.pages[0]!.title = 'https://a.test/home';
    const { recording, notes } = readRecording(har);
    expect(recording.url).toBe('https://a.test/home');
    expect(recording.requests).toHaveLength(3);
    expect(notes[1]).toBe('used 3 of 4 requests: 1 began before the navigation');
  });
});

it('follows ten thousand redirects in linear time', () => {
  const hops = Array.from({ length: 10_000 }, (_, index) => hop(`${SITE}${index}`, index, '/nowhere'));
  const started = process.cpuUsage();
  expect(readRecording(harOf(hops)).recording.requests).toHaveLength(10_000);
  const { user, system } = process.cpuUsage(started);
  // Microseconds of processor time: comparing each with each takes minutes.
  expect(user + system).toBeLessThan(15e6);
});

describe('what a page asks for after its load', () => {
  const api = (url: string, startMs: number, extra: object = {}) =>
    chromiumEntry(url, startMs, {}, { _resourceType: 'fetch', ...extra });
  const moved = { response: { status: 307, redirectURL: `${SITE}moved` } };
  /** As from a list that was cleared or filtered. */
  const listed = (entries: object[], onLoad: number) => {
    const har = harOf(entries, { onLoad, onContentLoad: onLoad - 50 }) as { log: { pages: object[] } };
    har.log.pages = [{ ...har.log.pages[0], title: `${SITE}home` }];
    return readRecording(har);
  };

  it.each([5_000, 500_000])('is no load where it alone is in the file, %i ms after the page', (startMs) => {
    const { recording, notes } = listed(
      [api(`${SITE}api`, startMs), api(`${SITE}api/2`, startMs + 900)],
      700,
    );
    expect(recording).toMatchObject({ missing: 'navigation', pltMs: null, domContentLoadedMs: null });
    expect(recording.requests.map(({ startMs }) => startMs)).toEqual([0, 900]);
    expect(notes).toEqual([
      'no navigation in the file: its requests are a set of transfers, not a page load',
    ]);
  });

  it('is no navigation where it begins with a redirect', () => {
    const redirected = (startMs: number) => [
      api(`${SITE}api`, startMs, moved),
      api(`${SITE}moved`, startMs + 60),
    ];
    expect(listed(redirected(5_000), 700).recording.missing).toBe('navigation');
    const { recording, notes } = listed(redirected(300), 700);
    expect(recording).toMatchObject({ url: `${SITE}home`, pltMs: 700 });
    expect(notes).toEqual(["the page's document is not in the file"]);
  });
});

describe('redirects of others', () => {
  const pixel = [
    hop('https://sync.test/0', 100, 'https://match.test/1'),
    image('https://other.test/a.png', 110),
    hop('https://match.test/1', 130, 'https://match.test/2'),
    image('https://match.test/2', 160),
    image(`${SITE}logo.png`, 200),
  ];
  const read = (title: string) => {
    const har = harOf(pixel, { onLoad: 700 }) as { log: { pages: { title: string }[] } };
    har.log.pages[0]!.title = title;
    return readRecording(har);
  };

  it('that end at an image are not the navigation to a page that the recorder names', () => {
    const { recording, notes } = read(SITE);
    expect(recording.url).toBe(SITE);
    expect(notes[0]).toBe("the page's document is not in the file");
    expect(recording.requests).toHaveLength(5);
  });

  it('are the navigation where the page is of a site that they lead over, or has no name', () => {
    expect(read('https://match.test/').recording.url).toBe('https://match.test/2');
    expect(read('').recording.url).toBe('https://match.test/2');
  });
});

describe('a document that is no other navigation', () => {
  const document = (url: string, startMs: number, headers: Record<string, string> = {}) =>
    entry(url, startMs, headers, { _resourceType: 'document' });
  const imageAt = (startMs: number) => image(`${SITE}${startMs}.png`, startMs);

  it('is prefetched for later', () => {
    const later = document(`${SITE}next`, 6_000, {
      'Sec-Purpose': 'prefetch;prerender',
      'Sec-Fetch-Dest': 'document',
      'Sec-Fetch-Mode': 'navigate',
    });
    const har = harOf([document(SITE, 0), imageAt(100), later, imageAt(6_500)], { onLoad: 6_600 });
    const { recording, notes } = readRecording(har);
    expect(notes).toEqual([]);
    expect(recording.pltMs).toBe(6_600);
    expect(recording.requests.map(({ type }) => type)).toEqual(['document', 'image', 'other', 'image']);
  });

  it.each(['data:text/html,', 'about:blank', 'chrome-extension://abc/page.html'])('is that of %s', (url) => {
    const har = harOf([document(url, -5_000), document(SITE, 0), imageAt(100)], { onLoad: 200 });
    expect(readRecording(har).recording).toMatchObject({ url: SITE, pltMs: 200, recordedAt: START });
    const proper = parseRecording(harOf([document(SITE, 0), imageAt(100)], { onLoad: 200 }));
    expect(parseRecording(har)).toEqual(proper);
  });
});

describe('a navigation that failed', () => {
  const failed = (startMs: number) => {
    const entry = chromiumEntry(SITE, startMs, { wait: 0 }, { _resourceType: 'document', time: 5 });
    return { ...entry, response: { status: 0, _error: 'net::ERR_CONNECTION_RESET' } };
  };
  const document = chromiumEntry(SITE, 0, { wait: 40, receive: 10 }, { _resourceType: 'document' });

  it('is passed over for the one that was answered', () => {
    const { recording, notes } = readRecording(harOf([failed(-300), document], { onLoad: 200 }));
    expect(recording.requests).toHaveLength(1);
    expect(recording).toMatchObject({ pltMs: 200, recordedAt: START });
    expect(notes[0]).toBe(
      `2 navigations in page "page_1": took number 2, the first that was answered (${SITE}, 1 request)`,
    );
  });

  it('is not offered in place of one that was answered', () => {
    const har = harOf([failed(-300), document], { onLoad: 200 });
    expect(readRecording(har, { pageOption: '--page' }).notes[0]).toMatch(/, 1 request\)$/);
  });

  it('is taken where nothing was answered', () => {
    expect(readRecording(harOf([failed(0)])).recording.requests[0]!.status).toBe(0);
  });
});

describe('a file without a page load', () => {
  const call = (startMs: number, headers: Record<string, string> = {}) =>
    entry(`https://api.test/${startMs}`, startMs, headers, { _resourceType: 'xhr' });
  const NOTE = 'no navigation in the file: its requests are a set of transfers, not a page load';

  it('is called so', () => {
    const har = harOf([call(0), call(1_500)]) as { log: { pages: object[] } };
    har.log.pages = [];
    const { recording, notes } = readRecording(har);
    expect(recording.missing).toBe('navigation');
    expect(notes[0]).toBe(NOTE);
    expect(parseRecording(JSON.stringify(recording))).toEqual(recording);
  });

  it('ends with its last transfer', () => {
    const har = harOf([call(0), call(1_500), call(3_000)]) as { log: { pages: object[] } };
    har.log.pages = [];
    const { recording, notes } = readRecording(har);
    expect(notes).toEqual([NOTE]);
    expect(predict(recording).protocols.h2).toMatchObject({ pltMs: expect.closeTo(3_050, -2) });
  });

  it('is cut at no silence, but after a day', () => {
    const har = harOf([call(0), call(10_000), call(3_600_000), call(86_400_001)]) as {
      log: { pages: object[] };
    };
    har.log.pages = [];
    const { recording, notes } = readRecording(har);
    expect(recording.requests.map(({ startMs }) => startMs)).toEqual([0, 10_000, 3_600_000]);
    expect(notes).toEqual([NOTE, 'used 3 of 4 requests: 1 began over a day after the first']);
  });

  it('is one of an API client, whatever it fetched', () => {
    const har = harOf([chromiumEntry(SITE, 0, {})]) as { log: { creator: object } };
    har.log.creator = { name: 'Insomnia REST Client', version: '1' };
    expect(readRecording(har).notes[0]).toBe(NOTE);
  });

  it('is one that times no request', () => {
    const untimed = {
      startedDateTime: START,
      request: { url: SITE },
      time: -1,
      timings: { send: -1, wait: -1 },
    };
    const files = [[untimed, { ...untimed, time: 0, request: { url: `${SITE}a.js` } }]];
    expect(() => parseRecording(files[0])).toThrow('top level: expected times of requests, got 0 ms for all');
    // Nothing of a page from the cache takes time.
    const cached = { ...untimed, _fromCache: 'disk' };
    expect(parseRecording([cached, cached, untimed]).requests).toHaveLength(2);
  });

  it('is none that begins with a request of unknown type', () => {
    const unknown = { startedDateTime: START, request: { url: SITE } };
    expect(parseRecording([unknown]).missing).toBe('load-event');
    const preflight = { startedDateTime: START, request: { url: 'https://api.test/', method: 'OPTIONS' } };
    expect(parseRecording([preflight, call(50)]).missing).toBe('navigation');
  });
});

import { parseRecording, predict, readRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, harOf, START } from '../../support/hars.ts';

const PAGE = 'https://a.test/';
/** Request at 65 ms, first byte at 145 ms, end at 165 ms. */
const DOCUMENT = { dns: 5, connect: 60, ssl: 30, wait: 80, receive: 20 };
const document = (startMs = 0) => chromiumEntry(PAGE, startMs, DOCUMENT, { _resourceType: 'document' });
const image = (startMs: number) =>
  chromiumEntry(`${PAGE}${startMs}.png`, startMs, { wait: 40, receive: 10 }, { _resourceType: 'image' });

const at = (ms: number) => new Date(Date.parse(START) + ms).toISOString();

type Har = { log: { creator: object; pages: { startedDateTime: unknown; pageTimings: object }[] } };

/** A HAR whose page begins `pageMs` after `START`. */
function beginning(pageMs: number, entries: object[], pageTimings: object, creator = 'WebInspector'): Har {
  const har = harOf(entries, pageTimings) as Har;
  har.log.pages[0]!.startedDateTime = at(pageMs);
  har.log.creator = { name: creator, version: '1' };
  return har;
}

const GUESS = 'the load is guessed to end with the last response that could hold it up, after';

describe('a page that starts after its first request', () => {
  it('has times from its own start, and the load those from the request', () => {
    const redirect = chromiumEntry('http://a.test/', 0, { connect: 60, wait: 1_940 }) as { response: object };
    redirect.response = { ...redirect.response, status: 301, redirectURL: PAGE };
    const timings = { onLoad: 700, onContentLoad: 400, _firstContentfulPaint: 350 };
    const recording = parseRecording(beginning(2_000, [redirect, document(2_000), image(2_170)], timings));
    expect(recording).toMatchObject({
      recordedAt: START,
      pltMs: 2_700,
      domContentLoadedMs: 2_400,
      firstContentfulPaintMs: 2_350,
    });
    expect(recording.requests.map(({ startMs }) => startMs)).toEqual([0, 2_000, 2_170]);
  });

  it('by another clock has no times where its document is not in the file', () => {
    const entries = [image(170), image(300)];
    expect(parseRecording(beginning(8_000, entries, { onLoad: 700 }))).toMatchObject({
      recordedAt: at(170),
      pltMs: null,
    });
    // One that began while the last of them was under way has them.
    expect(parseRecording(beginning(340, entries, { onLoad: 700 })).pltMs).toBe(870);
  });

  it('by another clock has times from the first request', () => {
    const recording = parseRecording(beginning(3_600_000, [document(), image(170)], { onLoad: 700 }));
    expect(recording).toMatchObject({ recordedAt: START, pltMs: 700 });
  });
});

describe('a page that starts after its document had ended', () => {
  const early = [document(), image(170), image(400)];
  const late = [image(3_100), image(3_200)];
  const read = (entries: object[], onLoad: number) => readRecording(beginning(3_000, entries, { onLoad }));

  it('was fetched ahead, and its load is timed from when it was shown', () => {
    const under = chromiumEntry(`${PAGE}b.png`, 2_900, { wait: 180 }, { _resourceType: 'image' });
    const { recording, notes } = read([...early, under, ...late], 600);
    expect(recording).toMatchObject({ url: PAGE, recordedAt: at(3_000), pltMs: 600 });
    expect(recording.requests.map(({ fromCache, startMs, endMs }) => [fromCache, startMs, endMs])).toEqual([
      [true, 0, 0],
      [true, 0, 0],
      [true, 0, 0],
      [false, 0, 80],
      [false, 100, 150],
      [false, 200, 250],
    ]);
    expect(recording.requests.map(({ phases }) => phases.responseStartMs)).toEqual([
      ...[null, null, null, null],
      ...[140, 240],
    ]);
    expect(notes).toEqual([
      'the page was fetched ahead: its load is timed from when it was shown',
      'used 3 of 6 requests: 3 came from the cache',
    ]);
    expect(predict(recording).fit.explainedMs).toBeLessThan(900);
  });

  it('is timed by another clock where all that its load event waits for fits into the load from the first request on', () => {
    const { recording, notes } = read(early, 600);
    expect(recording).toMatchObject({ recordedAt: START, pltMs: 600 });
    expect(recording.requests.map(({ startMs }) => startMs)).toEqual([0, 170, 400]);
    expect(notes).toEqual([]);
  });

  it('is the one that a script sent the visitor on to', () => {
    const next = chromiumEntry(`${PAGE}home`, 3_000, { wait: 80 }, { _resourceType: 'document' });
    const { recording } = read([document(), image(2_800), next, ...late], 600);
    expect(recording).toMatchObject({ recordedAt: START, pltMs: 3_600 });
    expect(recording.requests.every(({ fromCache }) => !fromCache)).toBe(true);
  });
});

describe('a page that starts before the navigation', () => {
  it('of Playwright is the page object: the load begins with the first request', () => {
    const entries = [document(6_000), image(6_170)];
    const timings = { onContentLoad: 6_400, onLoad: 6_700 };
    const recording = parseRecording(beginning(0, entries, timings, 'Playwright'));
    expect(recording).toMatchObject({ recordedAt: at(6_000), pltMs: 700, domContentLoadedMs: 400 });
    expect(recording.requests.map(({ startMs }) => startMs)).toEqual([0, 170]);
    // However long the page was there.
    const late = [document(600_000), image(600_170)];
    expect(parseRecording(beginning(0, late, { onLoad: 600_700 }, 'Playwright')).pltMs).toBe(700);
  });

  it.each(['WebInspector', 'Playwright'])(
    'by another clock has times from the first request: %s',
    (creator) => {
      const { recording, notes } = readRecording(
        beginning(0, [document(3_000), image(3_170)], { onLoad: 700, onContentLoad: 400 }, creator),
      );
      expect(recording).toMatchObject({ recordedAt: at(3_000), pltMs: 700, domContentLoadedMs: 400 });
      expect(notes).toEqual([]);
    },
  );

  it('and has no times tells nothing of a wait: its guess is counted from the first request', () => {
    const har = beginning(0, [document(5_000), image(5_170)], { onLoad: -1 }, 'HTTP Toolkit');
    const { recording, notes } = readRecording(har);
    expect(recording).toMatchObject({ recordedAt: at(5_000), pltMs: null });
    expect(notes).toEqual([`no load event in the file: ${GUESS} 220 ms`]);
  });

  it('of a browser is the navigation: its wait for the network counts', () => {
    const recording = parseRecording(beginning(0, [document(800), image(970)], { onLoad: 1_500 }));
    expect(recording).toMatchObject({ recordedAt: START, pltMs: 1_500 });
    expect(recording.requests[0]!.startMs).toBe(800);
  });
});

describe('times of a page that mean nothing', () => {
  const load = [document(), image(170)];

  it.each([
    ['an empty start', '', { onLoad: 700 }, 700],
    ['a start in another age', '+058063-05-13T22:58:17.000Z', { onLoad: -1_770_134_700_697_000 }, null],
    ['a load event that did not come', START, { onLoad: -1, onContentLoad: -1 }, null],
    ['no number', START, { onLoad: 'soon', onContentLoad: [] }, null],
    ['nothing', null, {}, null],
  ])('are as if they were absent: %s', (_, startedDateTime, pageTimings, pltMs) => {
    const har = harOf(load, pageTimings) as Har;
    har.log.pages[0]!.startedDateTime = startedDateTime;
    const recording = parseRecording(har);
    expect(recording.pltMs).toBe(pltMs);
    expect(recording.requests).toHaveLength(2);
    expect(recording.missing).toBe(pltMs === null ? 'load-event' : undefined);
  });

  it.each([1, 2, 100])('include a load event before the first byte: after %d ms', (onLoad) => {
    const { recording, notes } = readRecording(
      harOf(load, { onLoad, onContentLoad: onLoad, _firstContentfulPaint: 300 }),
    );
    expect(recording).toMatchObject({ pltMs: null, domContentLoadedMs: null, firstContentfulPaintMs: 300 });
    expect(recording.missing).toBe('load-event');
    // The image ends at 170 + 50 ms.
    expect(notes).toEqual([
      `the load event in the file comes before the first byte of the page: ${GUESS} 220 ms`,
    ]);
  });

  it('include a load event that comes minutes after all was silent, or is the end of a capture', () => {
    const [late] = readRecording(harOf(load, { onLoad: 400_000 })).notes;
    expect(late).toBe(`the load event in the file comes long after all was silent: ${GUESS} 220 ms`);
    for (const creator of ['BrowserMob Proxy', 'BrowserUp Proxy']) {
      const [capture] = readRecording(beginning(0, load, { onLoad: 9_000 }, creator)).notes;
      // The document's tunnel was opened for 65 ms before.
      expect(capture).toBe(`the load event in the file is the end of the capture: ${GUESS} 285 ms`);
    }
    // Scripts may be at work for long.
    expect(parseRecording(harOf(load, { onLoad: 44_000 })).pltMs).toBe(44_000);
  });
});

describe('seconds whose fractions are not padded', () => {
  const started = (startedDateTime: string) => ({ ...(document() as object), startedDateTime });

  it('are those of Internet Explorer: 59 milliseconds are .59', () => {
    const texts = ['10.810', '10.856', '11.59', '11.9'];
    const entries = texts.map((text) => started(`2026-01-05T10:00:${text}+00:00`));
    expect(parseRecording(entries).requests.map(({ startMs }) => startMs)).toEqual([0, 46, 199, 249]);
  });

  it('are fractions where recorders leave out zeros at their end', () => {
    const texts = ['10.811', '10.85', '11.5', '11'];
    const entries = texts.map((text) => started(`2026-01-05T10:00:${text}Z`));
    expect(parseRecording(entries).requests.map(({ startMs }) => startMs)).toEqual([0, 39, 189, 689]);
  });
});

describe('a session without a load event', () => {
  it('is cut at the first silence of two seconds', () => {
    const session = [document(), image(170), image(2_100), image(4_200), image(60_000)];
    const { recording, notes } = readRecording(harOf(session, {}));
    // The document ends at 165, the images at 220 and 2150 ms; 4200 is more than two seconds later.
    expect(recording.requests.map(({ startMs }) => startMs)).toEqual([0, 170, 2_100]);
    expect(notes).toEqual([
      `no load event in the file: ${GUESS} 2150 ms`,
      'used 3 of 5 requests: 2 began after all had been silent',
    ]);
  });

  it('is not silent while a frame is waited for', () => {
    const frame = chromiumEntry(`${PAGE}f`, 170, { wait: 9_000 }, { _resourceType: 'document' });
    const { requests } = parseRecording(harOf([document(), frame, image(9_500)], {}));
    expect(requests).toHaveLength(3);
  });

  it('does not wait for HTML that a script fetched', () => {
    const fragment = (startMs: number, headers: object[]) => {
      const entry = chromiumEntry(`${PAGE}${startMs}`, startMs, { wait: 40 }) as { request: object };
      return { ...entry, request: { ...entry.request, headers } };
    };
    const plain = chromiumEntry(PAGE, 0, DOCUMENT);
    const types = (headers: object[], timings: object) =>
      parseRecording(harOf([plain, fragment(200, headers)], timings)).requests[1]!.type;
    const asked = (name: string, value: string) => [{ name, value }];
    expect(types([], {})).toBe('fetch');
    expect(types([], { onLoad: 500 })).toBe('iframe');
    for (const timings of [{}, { onLoad: 500 }]) {
      expect(types(asked('Accept', '*/*'), timings)).toBe('fetch');
      expect(types(asked('X-Requested-With', 'XMLHttpRequest'), timings)).toBe('fetch');
      expect(types(asked('Sec-Fetch-Mode', 'cors'), timings)).toBe('fetch');
      expect(types(asked('Accept', 'text/html,application/xhtml+xml,*/*;q=0.8'), timings)).toBe('iframe');
      expect(types(asked('Sec-Fetch-Dest', 'iframe'), timings)).toBe('iframe');
    }
  });
});

describe('a load event beside starts that mean nothing', () => {
  const STEPS = [0, 1_000, 1_000, 2_000, 2_000, 3_000];
  const loadOf = (starts: readonly number[]) =>
    readRecording(
      beginning(0, [document(starts[0]), ...starts.slice(1).map((ms, id) => numbered(ms, id))], {
        onLoad: 3_400,
      }),
    );
  const numbered = (ms: number, id: number) =>
    chromiumEntry(`${PAGE}${id}.png`, ms, { wait: 40, receive: 10 }, { _resourceType: 'image' });

  it('is no use where all begin on whole seconds', () => {
    const { recording, notes } = loadOf(STEPS);
    expect(recording.pltMs).toBeNull();
    expect(notes.join()).toContain('beside requests that all begin on whole seconds: ');
    // A few may do so by chance, and one that does not is enough.
    expect(loadOf(STEPS.slice(0, 4)).recording.pltMs).toBe(3_400);
    expect(loadOf([...STEPS, 3_001]).recording.pltMs).toBe(3_400);
  });

  it('is no use where most begin before the page was answered', () => {
    const { recording, notes } = loadOf([0, 1, 2, 3, 4, 5, 6]);
    expect(recording.pltMs).toBeNull();
    expect(notes.join()).toContain('beside requests that begin before the page was answered: ');
    // Hints of a server lead to a few of them.
    expect(loadOf([0, 1, 2, 3, 170, 180, 190]).recording.pltMs).toBe(3_400);
  });

  it.each([
    ['all as waiting', { wait: 700 }],
    ['no phases', {}],
  ])('counts where the page was sent in parts, and its recorder writes %s', (_, timings) => {
    const page = chromiumEntry(PAGE, 0, timings, { _resourceType: 'document', time: 700 });
    const images = [200, 210, 220, 230, 240, 250, 260].map((ms, id) => numbered(ms, id));
    expect(readRecording(beginning(0, [page, ...images], { onLoad: 900 })).recording.pltMs).toBe(900);
    const together = [0, 1, 2, 3, 4, 5, 6].map((ms, id) => numbered(ms, id));
    expect(readRecording(beginning(0, [page, ...together], { onLoad: 900 })).recording.pltMs).toBeNull();
  });

  it('counts where the document that led to them is not in the file', () => {
    const together = [0, 1, 2, 3, 4, 5, 6].map((ms, id) => numbered(ms, id) as { request: object });
    const asked = together.map((entry) => ({
      ...entry,
      request: { ...entry.request, headers: [{ name: 'Referer', value: PAGE }] },
    }));
    const { recording, notes } = readRecording(beginning(0, asked, { onLoad: 3_400 }));
    expect(recording).toMatchObject({ url: PAGE, pltMs: 3_400 });
    expect(notes).toEqual(["the page's document is not in the file"]);
  });
});

describe('an error page', () => {
  const answered = (startMs: number, status: number) => {
    const entry = document(startMs) as { response: object };
    return { ...entry, response: { ...entry.response, status } };
  };
  const notesOf = (...entries: object[]) =>
    readRecording(JSON.stringify(harOf([...entries, image(800)], { onLoad: 900 }))).notes;

  it.each([401, 404, 503])('is noted where the page was answered with %i', (status) => {
    expect(notesOf(answered(0, status))).toEqual([
      `the page was answered with status ${status}: the load is that of an error page`,
    ]);
  });

  it('is none where a password was asked for and given', () => {
    expect(notesOf(answered(0, 401), answered(500, 200))).toEqual([]);
    expect(notesOf(answered(0, 200), answered(500, 404))).toEqual([]);
  });
});

import { readRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, START } from '../../support/hars.ts';

const FIRST = 'https://go.test/1';
const SCRIPT = 'https://go.test/go.js';
const LAST = 'https://shop.test/';
const header = (name: string, value: string) => ({ name, value });
const scripts = (...urls: string[]) => ({
  type: 'script',
  stack: { callFrames: urls.map((url) => ({ url, functionName: '', scriptId: '1' })) },
});

/**
 * A redirect of the server, a page whose script sends the visitor on, and the page where that leads:
 *
 *     redirect 0 to 50, page 50 to 100, its script 100 to 150, the page shown 150 (or later) to 200, its image to 250
 *
 * @param pages how many pages the file lists for it
 * @param more of the request for the second page
 * @param afterMs how much later the script sends the visitor on
 * @param others further requests
 */
function file(pages: 1 | 2, more: object = {}, afterMs = 0, others: readonly object[] = []): object {
  const last = pages === 1 ? 'page_1' : 'page_2';
  const document = (url: string, startMs: number, all: object) => {
    const { request, ...extra } = all as { request?: object };
    const made = chromiumEntry(url, startMs, {}, { _resourceType: 'document', ...extra }) as {
      request: object;
    };
    const headers = [header('Sec-Fetch-Dest', 'document'), header('Referer', FIRST)];
    return { ...made, request: { ...made.request, headers, ...request } };
  };
  const startMs = 150 + afterMs;
  const entries = [
    { ...document(FIRST, 0, { pageref: 'page_1' }), response: { status: 302, redirectURL: `${FIRST}/x` } },
    document(`${FIRST}/x`, 50, { pageref: 'page_1' }),
    chromiumEntry(SCRIPT, 100, {}, { _resourceType: 'script', pageref: 'page_1' }),
    document(LAST, startMs, { pageref: last, _initiator: scripts(SCRIPT), ...more }),
    chromiumEntry(`${LAST}i.png`, startMs + 50, {}, { _resourceType: 'image', pageref: last }),
    ...others,
  ];
  const page = (id: string, beganMs: number, onLoad: number) => ({
    id,
    startedDateTime: new Date(Date.parse(START) + beganMs).toISOString(),
    title: '',
    pageTimings: { onLoad },
  });
  const listed =
    pages === 1 ? [page('page_1', 0, startMs + 110)] : [page('page_1', 0, 150), page('page_2', startMs, 110)];
  return { log: { version: '1.2', creator: { name: 'WebInspector', version: '1' }, pages: listed, entries } };
}

const WHOLE = { url: LAST, requests: 5 };
const read = (input: object) => {
  const { recording, notes } = readRecording(input);
  const { url, pltMs, requests } = recording;
  return {
    url,
    pltMs,
    requests: requests.length,
    notes: notes.filter((note) => note.includes('a script sent')),
  };
};

describe('a visitor who is sent on by a script', () => {
  it('is so wherever a table that was sorted by another column lists the pages', () => {
    const { log } = file(2) as { log: { pages: object[]; entries: object[] } };
    const reversed = { log: { ...log, pages: log.pages.toReversed(), entries: log.entries.toReversed() } };
    expect(read(reversed)).toEqual(read(file(2)));
  });

  it.each([
    [1, 0],
    [2, 0],
    [1, 900],
    [2, 900],
  ] as const)('waits for the whole way, in a file of %i pages, after %i ms', (pages, afterMs) => {
    expect(read(file(pages, {}, afterMs))).toEqual({
      ...WHOLE,
      pltMs: 260 + afterMs,
      notes: [`a script sent the visitor on to "${LAST}": the load is the whole way`],
    });
  });

  it.each([
    [
      'a click led there',
      { request: { headers: [header('Sec-Fetch-User', '?1'), header('Sec-Fetch-Dest', 'document')] } },
      900,
    ],
    ['it was after five seconds', {}, 5_000],
    ['nothing had been under way for two seconds', {}, 2_000],
    ['nothing says that it was a script', { _initiator: { type: 'other' }, request: { headers: [] } }, 900],
    ['a person followed a link', { _initiator: { type: 'other' } }, 0],
    ['a test clicked by a script of its own', { _initiator: scripts('pptr:evaluate;click') }, 0],
    [
      'a test clicked, whereupon the page navigated',
      { _initiator: scripts(SCRIPT, 'pptr:evaluate;click') },
      0,
    ],
    ['WebDriver navigated', { _initiator: scripts('') }, 0],
  ])('is not one where %s', (_words, more, afterMs) => {
    expect(read(file(2, more, afterMs))).toMatchObject({ requests: 3, notes: [] });
  });

  it.each([
    ['nothing had been under way for two seconds', {}, 2_000],
    ['a test clicked by a script of its own', { _initiator: scripts('pptr:evaluate;click') }, 900],
  ])('nor in a file of one page where %s', (_words, more, afterMs) => {
    expect(read(file(1, more, afterMs))).toMatchObject({ requests: 3, notes: [] });
  });

  it('is not one where a page is fetched ahead for later', () => {
    const headers = [header('Sec-Fetch-Dest', 'document'), header('Referer', FIRST)];
    const led = (more: object[]) =>
      read(file(1, { _initiator: undefined, request: { headers: [...headers, ...more] } })).notes.length;
    expect(led([])).toBe(1);
    expect(led([header('Sec-Purpose', 'prefetch;prerender')])).toBe(0);
  });

  it('waits for what the script asked for first', () => {
    const asked = chromiumEntry(
      `${FIRST}/token`,
      150,
      { wait: 2_100 },
      { _resourceType: 'fetch', pageref: 'page_1' },
    );
    expect(read(file(2, {}, 2_200, [asked]))).toMatchObject({ url: LAST, requests: 6 });
  });

  it('has left a page that still sends what it counted', () => {
    const beacon = chromiumEntry(`${FIRST}/count`, 210, {}, { _resourceType: 'ping', pageref: 'page_1' });
    expect(read(file(2, {}, 0, [beacon]))).toMatchObject({ url: LAST, requests: 6 });
  });

  it('has left the page, which otherwise goes on in another tab', () => {
    const later = chromiumEntry(`${FIRST}/i.png`, 250, {}, { _resourceType: 'image', pageref: 'page_1' });
    expect(read(file(2, {}, 0, [later]))).toMatchObject({ requests: 4, notes: [] });
  });

  it('is sent on twenty times at most', () => {
    const urlOf = (turn: number) => `https://go.test/${turn}`;
    const turns = Array.from({ length: 25 }, (_, turn) => turn);
    const entries = turns.map((turn) =>
      chromiumEntry(
        urlOf(turn),
        100 * turn,
        {},
        {
          _resourceType: 'document',
          _initiator: turn === 0 ? { type: 'other' } : scripts(urlOf(turn - 1)),
          pageref: `${turn}`,
        },
      ),
    );
    const pages = turns.map((turn) => ({
      id: `${turn}`,
      startedDateTime: new Date(Date.parse(START) + 100 * turn).toISOString(),
      title: '',
      pageTimings: { onLoad: 60 },
    }));
    const log = { version: '1.2', creator: { name: 'WebInspector', version: '1' }, pages, entries };
    expect(read({ log })).toMatchObject({ url: urlOf(20), requests: 21 });
  });
});

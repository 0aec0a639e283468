import { parseRecording, predict, readRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, chromiumHar, harOf } from '../../support/hars.ts';

type Fields = Record<string, unknown>;
type Entry = Fields & { request: Fields; response: Fields; timings: Fields };
type Har = { log: { entries: Entry[] } };

/** The page as it is written properly. */
const PROPER = parseRecording(chromiumHar());

/** The page with a change of every entry. */
function changed(change: (entry: Entry, index: number) => void): Har {
  const har = chromiumHar() as Har;
  for (const [index, entry] of har.log.entries.entries()) change(entry, index);
  return har;
}

describe('a page is read the same', () => {
  const unixMs = (entry: Entry) => Date.parse(entry.startedDateTime as string);

  it.each<[string, (entry: Entry) => unknown]>([
    ['in milliseconds since 1970', unixMs],
    ['in seconds since 1970', (entry) => unixMs(entry) / 1000],
    ['in microseconds since 1970, as text', (entry) => String(1000 * unixMs(entry))],
    ['in nanoseconds since 1970', (entry) => 1e6 * unixMs(entry)],
    ['by .NET', (entry) => `/Date(${unixMs(entry)})/`],
    ['with a decimal comma', (entry) => (entry.startedDateTime as string).replace('.', ',')],
    ['with a decimal colon', (entry) => (entry.startedDateTime as string).replace('.', ':')],
    ['in GMT by name', (entry) => (entry.startedDateTime as string).replace('Z', ' GMT')],
    [
      'of a named zone, by Java',
      (entry) => (entry.startedDateTime as string).replace('Z', '+00:00[Europe/London]'),
    ],
    ['with an offset of hours, by Java', (entry) => (entry.startedDateTime as string).replace('Z', '+00')],
    [
      'with an offset and a Z, by Python',
      (entry) => (entry.startedDateTime as string).replace('Z', '+00:00Z'),
    ],
    ['with an offset without a colon', (entry) => (entry.startedDateTime as string).replace('Z', '+0000')],
    ['by a clock of twelve hours', (entry) => (entry.startedDateTime as string).replace('Z', ' AM+00:00')],
    [
      'by a clock of twelve hours, before the fraction',
      (entry) => (entry.startedDateTime as string).replace(/T1(\d:\d\d:\d\d)(.*)Z/, 'T1$1\u202fa.m.$2Z'),
    ],
  ])('whose times are %s', (_, write) => {
    const har = changed((entry) => Object.assign(entry, { startedDateTime: write(entry) }));
    expect(parseRecording(har)).toEqual(PROPER);
  });

  it('whose requests are listed newest first, some of which began at once', () => {
    const together = () =>
      changed((entry, index) => {
        const ms = unixMs(entry);
        if (index > 0) entry.startedDateTime = new Date(ms - (ms % 40)).toISOString();
      });
    const har = together();
    har.log.entries.reverse();
    expect(parseRecording(har)).toEqual(parseRecording(together()));
  });

  it('whose afternoon is on a clock of twelve hours', () => {
    const at = (startedDateTime: string) =>
      parseRecording([{ ...chromiumEntry('https://a.test/', 0, {}), startedDateTime }]).recordedAt;
    expect(at('2026-01-05T3:25:11.500 PM+00:00')).toBe('2026-01-05T15:25:11.500Z');
    expect(at('2026-01-05T12:05:00 AM+02:00')).toBe('2026-01-04T22:05:00.000Z');
    expect(at('2026-01-05T12:05:00 PM Z')).toBe('2026-01-05T12:05:00.000Z');
  });

  it.each<[string, (entry: Entry) => void]>([
    [
      'whose headers are fields of an object',
      ({ response }) => Object.assign(response, { headers: { 'alt-svc': 'h3=":443"; ma=86400' } }),
    ],
    [
      'whose headers are pairs',
      ({ response }) => Object.assign(response, { headers: [['Alt-Svc', 'h3=":443"; ma=86400']] }),
    ],
    [
      'of whose headers some have no name',
      ({ response }) => (response.headers as unknown[]).push(null, { name: null, value: 'x' }),
    ],
    ['whose status is text', ({ response }) => Object.assign(response, { status: '200', statusText: 200 })],
    ['whose version is a number', ({ response }) => Object.assign(response, { httpVersion: 2 })],
    [
      'whose version is the name of a constant',
      ({ request, response }) => {
        Object.assign(request, { httpVersion: 'HTTP_2_0' });
        Object.assign(response, { httpVersion: 'HTTP2' });
      },
    ],
    [
      'whose version is a fragment of a pseudo-header',
      ({ response }) => Object.assign(response, { httpVersion: 'us:' }),
    ],
    [
      'whose pseudo-headers alone show HTTP/2',
      ({ request, response }) => {
        Object.assign(request, { httpVersion: 'HTTP/1.1', headers: [{ name: ':path', value: '/' }] });
        Object.assign(response, { httpVersion: 'HTTP/1.1' });
      },
    ],
    [
      'of which Firefox notes the protocol in a header',
      ({ response }) => {
        (response.headers as object[]).push({ name: 'X-Firefox-Spdy', value: 'h2' });
        Object.assign(response, { httpVersion: 'HTTP/1.1' });
      },
    ],
    [
      'whose times are nanoseconds, of Go',
      (entry) => {
        const inNs = (ms: unknown) => (Number(ms) > 0 ? 1e6 * Number(ms) : ms);
        const phases = Object.entries(entry.timings).map(([phase, ms]) => [phase, inNs(ms)]);
        Object.assign(entry, { time: inNs(entry.time), timings: Object.fromEntries(phases) });
      },
    ],
    [
      'whose unknown times are NaN',
      ({ timings }) => Object.assign(timings, { _queued: 'NaN', blocked: 'nan' }),
    ],
    [
      'whose unknown times are -1000',
      ({ timings }) => {
        if (timings.dns === -1) timings.dns = -1000;
      },
    ],
    [
      'whose unknown sizes were counted without a sign',
      ({ request, response }) => {
        request.headersSize = 18_446_744_073_709_552_000;
        response.bodySize = 18_446_744_073_709_552_000;
      },
    ],
  ])('%s', (_, change) => {
    expect(parseRecording(changed(change))).toEqual(PROPER);
  });

  it.each<[string, (index: number) => string | undefined]>([
    ['are text where pages have numbers', () => '7'],
    ['are missing on some requests', (index) => (index % 2 === 0 ? undefined : '7')],
    ['are not listed on some requests', (index) => (index % 2 === 0 ? 'tab' : '7')],
  ])('beside another page, where the page references %s', (_, refOf) => {
    const har = changed((entry, index) => Object.assign(entry, { pageref: refOf(index) })) as Har & {
      log: { pages: Fields[] };
    };
    const before = { id: 6, startedDateTime: '2026-01-05T09:59:00.000Z', pageTimings: { onLoad: 100 } };
    har.log.pages = [before, { ...har.log.pages[0], id: 7 }];
    expect(parseRecording(har)).toEqual(PROPER);
  });

  it('whose empty objects are empty arrays, as PHP writes them', () => {
    const written = (empty: object) => {
      const har = changed(({ response }) => Object.assign(response, { content: empty })) as Har & {
        log: { pages: Fields[] };
      };
      har.log.entries.at(-1)!.timings = empty as Fields;
      har.log.pages[0]!.pageTimings = empty;
      return { log: { ...har.log, browser: empty } };
    };
    expect(parseRecording(written([]))).toEqual(parseRecording(written({})));
    expect(() => parseRecording(written([1]))).toThrow('log.browser: expected an object, got an array');
  });

  it('whose JSON has numbers of Python', () => {
    const text = JSON.stringify(changed((entry) => Object.assign(entry, { comment: '"x": NaN, -Infinity' })));
    const python = text.replaceAll('"ssl":-1', '"ssl": NaN').replaceAll('"dns":-1', '"dns":-Infinity');
    expect(python).not.toBe(text);
    expect(parseRecording(python)).toEqual(PROPER);
  });

  it('whose JSON has such numbers beside a text that is too long for a regular expression', () => {
    const har = JSON.stringify({ log: { ...(chromiumHar() as Har).log, comment: 'a'.repeat(20_000_000) } });
    const python = har.replaceAll('"ssl":-1', '"ssl":NaN');
    expect(python).not.toBe(har);
    expect(parseRecording(python)).toEqual(PROPER);
  });

  it.each<[string, Fields, 'before' | 'after']>([
    ['twice', {}, 'after'],
    ['twice, once for a page that is not listed', { pageref: 'tab' }, 'after'],
    ['twice, first for a page that is not listed', { pageref: 'tab' }, 'before'],
    ['twice, once for no page', { pageref: undefined }, 'after'],
  ])('whose entries are there %s', (_, other, place) => {
    const har = chromiumHar() as Har;
    const copies = structuredClone(har.log.entries).map((entry) => Object.assign(entry, other));
    har.log.entries = place === 'after' ? [...har.log.entries, ...copies] : [...copies, ...har.log.entries];
    const { recording, notes } = readRecording(har);
    expect(recording).toEqual(PROPER);
    // Of seven, one has a data: URL.
    expect(notes.join()).toContain('6 were copies of others');
  });

  it('of which one entry is there twice', () => {
    const har = chromiumHar() as Har;
    har.log.entries.push(structuredClone(har.log.entries[1]!));
    expect(readRecording(har).notes.join()).toContain('1 was a copy of another');
  });

  it('of two pages that asked for the same at the same time, which are no copies', () => {
    const har = changed((entry) => Object.assign(entry, { pageref: 'page_1' })) as Har & {
      log: { pages: Fields[] };
    };
    har.log.pages.push({ ...har.log.pages[0], id: 'tab' });
    har.log.entries.push(...structuredClone(har.log.entries).map((entry) => ({ ...entry, pageref: 'tab' })));
    for (const chosen of [1, 2]) expect(readRecording(har, { page: chosen }).recording).toEqual(PROPER);
  });

  it('beside tunnels of a proxy and checks of the network', () => {
    const har = chromiumHar() as Har;
    const connect = chromiumEntry('https://cdn.test:443', 0, { wait: 30_000 }) as Entry;
    connect.request.method = 'CONNECT';
    const check = chromiumEntry('http://detectportal.firefox.com/canonical.html', -4_000, {}) as Entry;
    har.log.entries.unshift(check, connect);
    const { recording, notes } = readRecording(har);
    expect(recording).toEqual(PROPER);
    expect(notes.join()).toContain('2 belonged to no page');
  });
});

describe('a WebSocket', () => {
  it.each<[string, Fields, Fields]>([
    ['its answer', { status: 101 }, {}],
    ['its type', { status: 200 }, { _resourceType: 'websocket' }],
  ])('is no transfer of the page, by %s', (_, answer, fields) => {
    const har = chromiumHar() as Har;
    const socket = chromiumEntry('https://shop.test/live', 200, { receive: 60_000 }, fields) as Entry;
    Object.assign(socket.response, answer, { httpVersion: 'HTTP/1.1' });
    har.log.entries.push(socket);
    const { recording, notes } = readRecording(har);
    expect(predict(recording).page).toEqual(predict(PROPER).page);
    expect(notes.join()).toContain('1 was a WebSocket');
  });
});

it('a WebSocket is not the end of a set of transfers', () => {
  const socket = chromiumEntry('https://a.test/live', 100, { receive: 60_000 }) as Entry;
  socket.response.status = 101;
  const data = chromiumEntry('https://a.test/data', 0, {}, { _resourceType: 'fetch' });
  const { notes } = readRecording([data, socket]);
  expect(notes.join()).not.toContain('60');
  expect(predict(readRecording([data, socket]).recording).page.requests).toBe(1);
});

describe('the size of a body', () => {
  const sizeOf = (response: Fields, headers: Record<string, string>, method = 'GET') => {
    const entry = chromiumEntry('https://a.test/', 0, {}) as Entry;
    entry.request.method = method;
    const list = Object.entries(headers).map(([name, value]) => ({ name, value }));
    entry.response = { status: 200, headersSize: 300, ...response, headers: list };
    return parseRecording([entry]).requests[0]!.bodyBytes;
  };
  const gzip = { 'Content-Encoding': 'gzip', 'content-length': '9000' };
  const decoded = { content: { size: 40_000, mimeType: 'text/css' } };

  it('is declared where the recorder has none', () => {
    expect(sizeOf({ bodySize: -1, content: { size: -1 } }, { 'Content-Length': '9000' })).toBe(9_000);
    expect(sizeOf({ bodySize: -1, ...decoded }, gzip)).toBe(9_000);
    expect(sizeOf({ bodySize: -1, content: { size: -1 } }, { 'Content-Length': '9000' }, 'HEAD')).toBeNull();
  });

  it('is the decoded one of what came as it is', () => {
    expect(sizeOf({ bodySize: -1, ...decoded }, { Server: 'x' })).toBe(40_000);
    expect(sizeOf({ bodySize: -1, ...decoded }, { 'Content-Encoding': 'br' })).toBeNull();
    // No header was recorded, which shows nothing.
    expect(sizeOf({ bodySize: -1, ...decoded }, {})).toBeNull();
  });

  it('is declared where the recorder has the decoded one for both', () => {
    expect(sizeOf({ bodySize: 40_000, ...decoded }, gzip)).toBe(9_000);
    expect(sizeOf({ bodySize: 9_500, ...decoded }, gzip)).toBe(9_500);
    expect(sizeOf({ bodySize: 40_000, ...decoded }, { 'Content-Length': '9000' })).toBe(40_000);
  });
});

describe('a connection', () => {
  it('has no name that others were opened under', () => {
    const named = (connection: (index: number) => string) =>
      parseRecording(
        changed((entry, index) => {
          entry._connectionId = undefined;
          entry.connection = connection(index);
        }),
      ).requests.map(({ connectionId }) => connectionId);
    expect(new Set(named(() => '7'))).toEqual(new Set([null]));
    expect(named((index) => (index === 2 || index === 4 ? '8' : '7'))[0]).toBe('7');
  });

  it('has no name under which a proxy asked several hosts', () => {
    const namesOf = (urls: string[]) => {
      const har = harOf(
        urls.map((url, index) => ({
          ...chromiumEntry(url, 50 * index, {}),
          _connectionId: undefined,
          connection: '7',
          timings: { send: 1, wait: 20, receive: 5 },
        })),
      );
      return parseRecording(har).requests.map(({ connectionId }) => connectionId);
    };
    expect(namesOf(['http://a.test/', 'http://a.test/b', 'http://a.test/c'])).toEqual(['7', '7', '7']);
    expect(namesOf(['http://a.test/', 'http://a.test/b', 'http://b.test/'])).toEqual([null, null, null]);
  });

  it('that a proxy had opened takes TLS alone', () => {
    const entry = chromiumEntry('https://a.test/', 0, { ssl: 50, wait: 60, receive: 10 }) as Entry;
    const { phases, endMs } = parseRecording([{ ...entry, time: 120 }]).requests[0]!;
    expect(phases).toMatchObject({
      connectStartMs: 0,
      secureStartMs: 0,
      connectEndMs: 50,
      requestStartMs: 50,
    });
    expect(endMs).toBe(120);
    // Within another phase, it is none of its own.
    expect(parseRecording([{ ...entry, time: 70 }]).requests[0]!.phases.connectStartMs).toBeNull();
  });
});

describe('times that are all of one phase', () => {
  it.each(['wait', 'receive'])('are no phases: %s', (phase) => {
    const har = changed((entry) => {
      entry.timings = { send: 0, wait: 0, receive: 0, [phase]: entry.time };
    });
    const { requests } = parseRecording(har);
    expect(requests.map(({ endMs }) => endMs)).toEqual(PROPER.requests.map(({ endMs }) => endMs));
    expect(requests.every(({ phases }) => phases.responseStartMs === null)).toBe(true);
  });
});

describe('times that are shared out among phases', () => {
  const written = (share: (index: number) => number) =>
    harOf(
      Array.from({ length: 8 }, (_, index) => {
        const took = 60 + 13 * index;
        const timings = { wait: share(index) * took, receive: (1 - share(index)) * took };
        return chromiumEntry(`https://a.test/${index}`, 10 * index, timings);
      }),
    );
  const isSplit = (har: object) =>
    parseRecording(har).requests.map(({ phases }) => phases.responseStartMs !== null);

  it('in the same way are no phases', () => {
    expect(isSplit(written(() => 0.8))).not.toContain(true);
  });

  it('in other ways are', () => {
    expect(isSplit(written((index) => (index === 3 ? 0.7 : 0.8)))).not.toContain(false);
  });

  it('are where all took the same time, as on a coarse clock', () => {
    const alike = Array.from({ length: 8 }, (_, index) =>
      chromiumEntry(`https://a.test/${index}`, 10 * index, { wait: 31, receive: 16 }),
    );
    expect(isSplit(harOf(alike))).not.toContain(false);
  });
});

describe('times beside which every phase is 0', () => {
  const har = changed((entry) => {
    entry.timings = { send: 0, wait: 0, receive: 0 };
  });

  it('are no phases', () => {
    const { requests } = parseRecording(har);
    expect(requests.map(({ endMs }) => endMs)).toEqual(PROPER.requests.map(({ endMs }) => endMs));
    expect(requests.every(({ phases }) => phases.responseStartMs === null)).toBe(true);
  });

  it('are no phases in a file of few requests either', () => {
    const [request] = parseRecording([har.log.entries[0]]).requests;
    expect(request).toMatchObject({ endMs: PROPER.requests[0]!.endMs, phases: { responseStartMs: null } });
  });
});

it('a response received for longer than its request took is counted from its page, as Resource Timing does', () => {
  const har = changed((entry) => Object.assign(entry, { time: 80 }));
  const opaque = har.log.entries.at(-1)!;
  opaque.timings = { blocked: -1, dns: -1, connect: -1, send: 0, wait: 0, receive: 400 };
  const { startMs, endMs, phases } = parseRecording([opaque]).requests[0]!;
  expect([endMs - startMs, phases.responseStartMs]).toEqual([80, null]);
  // With another phase beside it, a time was not counted: phases are the longer.
  opaque.timings.wait = 10;
  const waited = parseRecording([opaque]).requests[0]!;
  expect(waited.endMs - waited.startMs).toBe(410);
});

it('a request that seems to have waited for longer than a day took what its other phases did', () => {
  const har = changed((entry, index) => {
    if (index !== 2) return;
    const wait = 8_983_498_276;
    Object.assign(entry, { time: wait + 30, timings: { blocked: 0, dns: 4, send: 6, wait, receive: 20 } });
  });
  const { startMs, endMs, phases } = parseRecording(har).requests[2]!;
  expect([endMs - startMs, phases.responseStartMs]).toEqual([30, null]);
});

describe('a page that stays open for days', () => {
  const late = (startMs: number, receive: number) =>
    chromiumEntry('https://shop.test/poll', startMs, { receive }, { _resourceType: 'fetch' }) as Entry;
  const DAYS = 2 * 86_400_000;

  it.each([
    ['polls', late(DAYS, 5), 1],
    ['is sent events', late(400, DAYS), 0],
  ])('and %s', (_, entry, excluded) => {
    const har = chromiumHar() as Har;
    har.log.entries.push(entry);
    const { recording, notes } = readRecording(har);
    expect(recording.pltMs).toBe(PROPER.pltMs);
    expect(notes.join()).toContain(`${1 + excluded} began after the load event`);
    expect(parseRecording(JSON.stringify(recording))).toEqual(recording);
  });
});

describe('an entry that cannot be read', () => {
  const broken = (changes: Record<number, Fields>) =>
    changed((entry, index) => Object.assign(entry, changes[index]));

  it('is left out, and the first is named', () => {
    const { recording, notes } = readRecording(broken({ 2: { request: null }, 3: { startedDateTime: '' } }));
    const left = PROPER.requests.filter(({ url }) => !/app\.js|woff2/.test(url)).map(({ url }) => url);
    expect(recording.requests.map(({ url }) => url)).toEqual(left);
    expect(notes.join()).toContain(
      '2 could not be read (log.entries[2].request: expected an object, got null)',
    );
  });

  it('is one of a clock that was not set', () => {
    const { notes } = readRecording(broken({ 2: { startedDateTime: '1970-01-01T05:30:00.000+0530' } }));
    expect(notes.join()).toContain('1 could not be read (log.entries[2].startedDateTime: expected a date');
  });

  it('is refused where it is the first, or one of many', () => {
    expect(() => parseRecording(broken({ 0: { startedDateTime: '' } }))).toThrow('log.entries[0].started');
    const most = Object.fromEntries([1, 2, 3, 4].map((index) => [index, { request: null }]));
    expect(() => parseRecording(broken(most))).toThrow('log.entries[1].request: expected an object');
  });
});

describe('what never left', () => {
  it('has no protocol, whatever the recorder names', () => {
    const har = chromiumHar() as Har;
    const blocked = chromiumEntry('https://ads.test/', 200, { send: -1, wait: -1, receive: -1 }) as Entry;
    Object.assign(blocked.response, { status: -1, httpVersion: 'HTTP/1.1', _transferSize: -1 });
    har.log.entries.push(blocked);
    const { recording, notes } = readRecording(har);
    expect(recording.requests.find(({ url }) => url === 'https://ads.test/')?.protocol).toBeNull();
    expect(notes.join()).toContain('1 failed without an answer');
  });

  it.each([undefined, null])('is what has no response beside others that have one: %s', (response) => {
    const har = chromiumHar() as Har;
    const lost = chromiumEntry('https://ads.test/', 200, { wait: 30_000 }) as Entry;
    har.log.entries.push({ ...lost, response } as unknown as Entry);
    const { recording, notes } = readRecording(har);
    expect(recording.requests.find(({ url }) => url === 'https://ads.test/')).toMatchObject({
      status: 0,
      protocol: null,
    });
    expect(notes.join()).toContain('1 failed without an answer');
  });

  it('is not known where no request has a response', () => {
    const { requests } = parseRecording(changed((entry) => Object.assign(entry, { response: null })));
    expect(requests.every(({ status }) => status === 200)).toBe(true);
  });

  it('is an upgrade of the browser’s own, by its header alone', () => {
    const har = chromiumHar() as Har;
    const upgrade = chromiumEntry('http://shop.test/', 0, { wait: 0 }) as Entry;
    upgrade.response = {
      status: 307,
      redirectURL: 'https://shop.test/',
      headers: [{ name: 'Non-Authoritative-Reason', value: 'HSTS' }],
    };
    har.log.entries.unshift(upgrade);
    expect(parseRecording(har).requests[0]!.fromCache).toBe(true);
  });
});

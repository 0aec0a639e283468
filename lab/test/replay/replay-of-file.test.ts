import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UserError } from '../../src/command/errors.ts';
import { replayOfFile } from '../../src/replay/replay-of-file.ts';
import { type HarLog, harEntry, harOf, largeHar, smallPage } from '../support/hars.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-hars-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function replayOf(har: HarLog | string | Uint8Array) {
  const file = join(folder, 'page.har');
  await writeFile(file, typeof har === 'string' || har instanceof Uint8Array ? har : JSON.stringify(har));
  return replayOfFile(file, 'page');
}

/** The one-line error for a file, without the file's name. */
async function refusal(har: HarLog | string | Uint8Array): Promise<string> {
  const error = await replayOf(har).then(
    () => new Error('it was taken'),
    (error: unknown) => error as Error,
  );
  expect(error).toBeInstanceOf(UserError);
  expect(error).toMatchObject({ exitCode: 2 });
  expect(error.message).toMatch(new RegExp(`^${folder}/page\\.har: [^\\n]+$`));
  return error.message.slice(folder.length + '/page.har: '.length);
}

const entries = (change: object = {}) => smallPage.map((request) => harEntry({ ...request, extra: change }));

describe('a HAR that is replayed', () => {
  it('may be without initiators', async () => {
    const replay = await replayOf(harOf(smallPage.map(({ by: _, ...request }) => harEntry(request))));
    expect(replay.requests.filter(({ beforeLoad }) => beforeLoad)).toHaveLength(5);
    expect(replay.skipped).toEqual([]);
  });

  it.each([[{ onLoad: null }], [{ onLoad: -1 }], [{}]])(
    'may be of a page that never ends, with timings %j',
    async (pageTimings) => {
      const polls = Array.from({ length: 300 }, (_, index) =>
        harEntry({
          url: `https://a.example/poll/${index}`,
          startMs: 1000 * index + 500,
          type: 'fetch',
          mimeType: 'application/json',
          by: ['script', 'https://a.example/a.js'],
        }),
      );
      const replay = await replayOf(harOf([...entries(), ...polls], pageTimings));
      expect(replay.recordedPltMs).toBeNull();
      expect(replay.requests.every(({ beforeLoad }) => beforeLoad)).toBe(true);
      // Five minutes of polling must not become five minutes of waiting.
      expect(replay.fixedMs).toBeLessThan(60_000);
    },
  );

  it('may be without timings', async () => {
    const replay = await replayOf(harOf(entries({ timings: undefined })));
    expect(replay.requests).toHaveLength(5);
    expect(replay.site.resources.map(({ thinkMs }) => thinkMs)).toEqual([0, 0, 0, 0, 0]);
  });

  it('may have negative times', async () => {
    const [document] = entries();
    const [, ...others] = entries({ time: -50, timings: { blocked: -7, send: -1, wait: -30, receive: -2 } });
    const replay = await replayOf(harOf([document!, ...others], { onLoad: -4 }));
    expect(replay.requests).toHaveLength(5);
    for (const { thinkMs } of replay.site.resources) expect(thinkMs).toBeGreaterThanOrEqual(0);
  });

  it('may have entries before its page starts, which are left out', async () => {
    const early = harEntry({ url: 'https://a.example/early.png', startMs: -400, type: 'image' });
    const replay = await replayOf(harOf([...entries(), early]));
    expect(replay.requests).toHaveLength(5);
  });

  it('may have initiators in a circle', async () => {
    const by = (url: string): ['script', string] => ['script', url];
    const [document] = smallPage;
    const replay = await replayOf(
      harOf(
        [
          document!,
          { url: 'https://a.example/1.js', startMs: 50, type: 'script', by: by('https://a.example/2.js') },
          { url: 'https://a.example/2.js', startMs: 50, type: 'script', by: by('https://a.example/1.js') },
          { url: 'https://a.example/3.js', startMs: 50, type: 'script', by: by('https://a.example/3.js') },
        ].map(harEntry),
      ),
    );
    expect(replay.requests).toHaveLength(4);
  });

  it('may have redirects in a circle', async () => {
    const to = (url: string, target: string, startMs: number) =>
      harEntry({
        url,
        startMs,
        durationMs: 10,
        type: 'document',
        extra: { response: { status: 302, headers: [], redirectURL: target, content: {}, bodySize: 0 } },
      });
    const replay = await replayOf(
      harOf([
        to('https://a.example/', 'https://a.example/b', 0),
        to('https://a.example/b', 'https://a.example/', 20),
        to('https://a.example/', 'https://a.example/b', 40),
      ]),
    );
    expect(replay.requests).toHaveLength(3);
  });

  it('may have every entry twice, and is replayed once', async () => {
    const replay = await replayOf(harOf([...entries(), ...entries()]));
    expect(replay.requests).toHaveLength(5);
  });

  it('may request everything twice', async () => {
    const again = smallPage.map((request) => harEntry({ ...request, startMs: request.startMs + 1 }));
    const replay = await replayOf(harOf([...entries(), ...again.slice(1)]));
    expect(replay.requests).toHaveLength(9);
    expect(new Set(replay.requests.map(({ url }) => url)).size).toBe(9);
  });

  it.each([[{ time: 1e300 }], [{ response: { status: 200, bodySize: 9e15 } }]])(
    'may have numbers that mean nothing, such as %j',
    async (change) => {
      const odd = harEntry({ url: 'https://a.example/x', startMs: 300, extra: change });
      expect((await replayOf(harOf([...entries(), odd]))).requests).toHaveLength(6);
    },
  );

  it('may have an entry that cannot be read, which is left out', async () => {
    const odd = harEntry({ url: 'https://a.example/x', startMs: 300, extra: { startedDateTime: 'noon' } });
    expect((await replayOf(harOf([...entries(), odd]))).requests).toHaveLength(5);
  });

  it('may have several pages, even with the same id', async () => {
    const har = harOf([
      ...entries(),
      ...smallPage.map((request) => harEntry({ ...request, startMs: request.startMs + 90_000 })),
    ]);
    har.log.pages?.push({ id: 'page_1', startedDateTime: '2026-03-02T09:01:30.000Z', pageTimings: {} });
    expect((await replayOf(har)).requests).toHaveLength(5);
  });

  it('may have 1200 requests on 290 origins, and is replayed within seconds and little memory', async () => {
    const before = process.memoryUsage().rss;
    const begin = performance.now();
    const replay = await replayOf(largeHar(1200, 290));
    expect(performance.now() - begin).toBeLessThan(10_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(300e6);
    expect(replay.requests).toHaveLength(1200);
    expect(replay.site.origins).toHaveLength(291);
  });

  it('keeps POST requests of scripts', async () => {
    const { site } = await replayOf(harOf(entries()));
    expect(site.resources.map(({ method }) => method)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'POST',
    ]);
  });
});

describe('a HAR that is refused', () => {
  it('is cut off: the line names the entry', async () => {
    const text = JSON.stringify(harOf(entries()));
    const third = text.indexOf('a.js","httpVersion"');
    expect(await refusal(text.slice(0, third))).toMatch(
      /^log\.entries\[2\]\.request\.url: expected JSON, got /,
    );
    expect(await refusal(text.slice(0, -1))).toMatch(
      /^log: expected JSON, got |^top level: expected JSON, got /,
    );
    expect(await refusal('')).toMatch(/^top level: expected JSON, got /);
  });

  it('is a cut-off gzip file', async () => {
    const packed = gzipSync(JSON.stringify(harOf(entries())));
    const cut = packed.subarray(0, packed.length / 2);
    expect(await refusal(cut)).toBe(
      'top level: expected gzip data of at most 268 MB, got data that ends too early',
    );
  });

  it('has no entries', async () => {
    expect(await refusal(harOf([]))).toBe('log.entries: expected requests, got none');
  });

  it.each([
    [
      { startedDateTime: 'noon' },
      'log.entries[0].startedDateTime: expected a date and time (ISO 8601), got "noon"',
    ],
    [{ time: 'soon' }, 'log.entries[0].time: expected a number, got "soon"'],
    [{ request: { url: 5 } }, 'log.entries[0].request.url: expected a URL, got 5'],
    [
      { response: { status: 200, bodySize: 5e9 } },
      'request for https://a.example/x: expected a body of at most 33554432 bytes, got 5000000000',
    ],
  ])('begins with an entry with %j', async (change, line) => {
    const odd = harEntry({ url: 'https://a.example/x', startMs: 0, extra: change });
    expect(await refusal(harOf([odd, ...entries()]))).toBe(line);
  });

  it('is too large in total', async () => {
    const large = Array.from({ length: 30 }, (_, index) =>
      harEntry({ url: `https://a.example/${index}.bin`, startMs: 200, type: 'image', bytes: 2e7 }),
    );
    expect(await refusal(harOf([...entries(), ...large]))).toMatch(
      /^requests: expected at most 268435456 bytes together, got 600\d+$/,
    );
  });

  it('has too many requests or origins', async () => {
    expect(await refusal(largeHar(3001, 5))).toBe('requests: expected at most 3000, got 3001');
    expect(await refusal(largeHar(900, 450))).toBe('requests: expected at most 400 origins, got 451');
  });
});

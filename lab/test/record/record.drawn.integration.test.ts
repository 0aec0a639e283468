import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { chromiumPath } from '../../src/browser/chromium.ts';
import { Progress } from '../../src/command/progress.ts';
import { type RecordOptions, record } from '../../src/record/record.ts';
import type { RecordedPage, RecordedPageRequest } from '../../src/record/recorded-page.ts';
import { renderRecord, runRecord } from '../../src/record/run.ts';
import { checkReplay } from '../../src/replay/check-replay.ts';
import type { Site } from '../../src/sites/site.ts';
import { siteSchema } from '../../src/sites/site.ts';
import { measureUntil } from '../support/attempts.ts';
import { recordOptionsOf } from '../support/record-options.ts';
import {
  CDN,
  FILM,
  type LiveServer,
  MAIN,
  pageAnswers,
  SCRIPT,
  serveLive,
} from '../support/record-server.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-record-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** The page's work after its load event takes a fraction of this, unless the machine is busy. */
const AFTER_LOAD_MS = 3000;

function optionsFor(url: string, out: string, server: LiveServer): RecordOptions {
  return {
    url,
    out,
    name: 'test',
    executablePath: chromiumPath(),
    headed: false,
    timeoutMs: 60_000,
    waitMs: AFTER_LOAD_MS,
    maxBytes: 2 ** 24,
    seed: 7,
    args: server.args,
    protocols: 'all',
    signal: new AbortController().signal,
  };
}

describe('npm run lab -- record', () => {
  it('records, loads the recording from the lab, and reports the repeated requests', async () => {
    const server = await serveLive(await pageAnswers());
    try {
      const ca = join(folder, 'ca.pem');
      await writeFile(ca, server.caPem);
      const maps = [MAIN, CDN].flatMap((origin) => [
        '--map',
        `${new URL(origin).host}=127.0.0.1:${server.port}`,
      ]);
      const silent = new Progress(createWriteStream('/dev/null') as unknown as NodeJS.WriteStream);
      const signal = new AbortController().signal;
      let attempts = 0;
      const attempt = () => {
        attempts += 1;
        const command = recordOptionsOf([
          ...[`${MAIN}/start`, '--out', join(folder, `command-${attempts}`), '--ca', ca, ...maps],
          ...['--wait-ms', String(AFTER_LOAD_MS), '--check', 'h2', '--protocols', 'seen'],
        ]);
        return runRecord(command, { progress: silent, signal });
      };
      const expected = ({ page }: Awaited<ReturnType<typeof attempt>>) => {
        const count = page.site.resources.length - 1;
        return new RegExp(
          `^h2: ${count} of ${count} resources requested again, \\d+ URLs answered by a similar one, 0 missing; load event at \\d+ ms$`,
          'm',
        );
      };
      // A busy machine may leave the page's work after its load event no time.
      const run = await measureUntil(attempt, (one) => expected(one).test(renderRecord(one)), 3);
      expect(run.unchecked).toBeNull();
      expect(run.page.site.origins.map(({ protocols }) => protocols)).toEqual([
        ['h1', 'h2'],
        ['h1', 'h2'],
      ]);
      expect(renderRecord(run)).toMatch(expected(run));
    } finally {
      await server.close();
    }
  });
});

describe('a recorded page', () => {
  let out: string;
  let page: RecordedPage;
  const requested = (path: string): RecordedPageRequest =>
    page.requests.find(({ url }) => url.startsWith(path)) as RecordedPageRequest;
  const resource = (path: string): Site['resources'][number] =>
    page.site.resources.find((own) => (own.origin + own.path).startsWith(path)) as Site['resources'][number];

  beforeAll(async () => {
    out = join(folder, 'site');
    const server = await serveLive(await pageAnswers());
    try {
      page = await record(optionsFor(`${MAIN}/start`, out, server));
    } finally {
      await server.close();
    }
  });

  it('has every request, with redirects, POST, the frame, the worker and the missing image', () => {
    const all = page.requests.map(({ method, status, url }) => `${method} ${status} ${url.split('?')[0]}`);
    for (const expected of [
      `GET 302 ${MAIN}/start`,
      `GET 200 ${MAIN}/page`,
      `GET 200 ${MAIN}/style.css`,
      `GET 200 ${MAIN}/script.js`,
      `GET 200 ${MAIN}/worker.js`,
      `GET 200 ${MAIN}/from-worker.json`,
      `GET 200 ${MAIN}/api/random`,
      `GET 200 ${MAIN}/api/time`,
      `POST 200 ${MAIN}/graph`,
      `GET 301 ${MAIN}/moved.png`,
      `GET 206 ${MAIN}/film.mp4`,
      `GET 404 ${CDN}/gone.png`,
      `GET 200 ${CDN}/here.png`,
      `GET 200 ${CDN}/own.woff2`,
      `GET 200 ${CDN}/frame.html`,
      `GET 200 ${CDN}/in-frame.png`,
      `GET 200 ${CDN}/with-credentials`,
    ])
      expect(all).toContain(expected);
    expect(all.filter((text) => text === `POST 200 ${MAIN}/graph`)).toHaveLength(2);
    expect(page.requests.every(({ protocol }) => protocol === 'h2')).toBe(true);
    expect(page.requests.filter(({ kept }) => kept === 'left out' || kept === 'filler')).toEqual([]);
  });

  it('keeps bodies, codings and the meaning of headers, but no secrets', async () => {
    const text = await readFile(join(out, 'site.json'), 'utf8');
    siteSchema.parse(JSON.parse(text));
    const whole = text + (await readFile(join(out, 'record.json'), 'utf8'));
    expect(whole).not.toMatch(/secret=|=secret|"secret"/);
    expect(resource(`${MAIN}/page`).headers).toMatchObject({ 'content-encoding': 'br' });
    expect(resource(`${MAIN}/page`).headers['content-security-policy']).toContain(CDN);
    expect(resource(`${MAIN}/start`)).toMatchObject({
      status: 302,
      headers: { location: '/page?from=start' },
    });
    const style = resource(`${MAIN}/style.css`);
    expect(style.headers).toMatchObject({ 'content-encoding': 'gzip' });
    expect(style.headers['cache-control']).toMatch(/^max-age=3(60[01]|59\d)$/);
    const { recordedBytes, replayedBytes } = requested(`${MAIN}/style.css`);
    expect(Math.abs((replayedBytes as number) - (recordedBytes as number))).toBeLessThan(30);
    const script = resource(`${MAIN}/script.js`).body as { file: string };
    expect(await readFile(join(out, script.file), 'utf8')).toBe(SCRIPT);
    const film = resource(`${MAIN}/film.mp4`);
    expect(film).toMatchObject({ status: 200, headers: { 'accept-ranges': 'bytes' } });
    expect((await readFile(join(out, (film.body as { file: string }).file))).equals(FILM)).toBe(true);
    expect(resource(`${MAIN}/api/random`).thinkMs).toBeGreaterThan(60);
    expect(resource(`${MAIN}/api/random`).thinkMs).toBeLessThan(5000);
    // Text handed out by the browser is UTF-8.
    const latin = resource(`${CDN}/latin.js`);
    expect(latin.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(await readFile(join(out, (latin.body as { file: string }).file), 'utf8')).toBe('"café"');
    const marked = resource(`${CDN}/marked.js`).body as { file: string };
    expect(await readFile(join(out, marked.file), 'utf8')).toBe('\ufeff"byte order mark"\r\n');
    expect((await readdir(out)).toSorted()).toEqual(['bodies', 'record.json', 'site.json']);
  });

  it('is requested again from the lab under each protocol, without a miss', async () => {
    const protocols = drawShare(['h1', 'h2', 'h3'] as const, 1);
    const checks = await checkReplay({
      dir: out,
      site: page.site,
      protocols,
      timeoutMs: 60_000,
      lingerMs: AFTER_LOAD_MS,
    });
    expect(checks.map(({ protocol }) => protocol)).toEqual(protocols);
    for (const { protocol, failure, misses, missing, proved, similar } of checks) {
      expect({ failure, misses, missing, proved }, protocol).toEqual({
        failure: null,
        misses: [],
        missing: [],
        proved: true,
      });
      // Random values repeat; the clock differs by the time that scripts take.
      expect(
        similar.filter((url) => !url.includes('/api/time')),
        protocol,
      ).toEqual([]);
    }
  });
});

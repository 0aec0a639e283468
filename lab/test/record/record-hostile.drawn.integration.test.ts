import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { Http2ServerResponse } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath } from '../../src/browser/chromium.ts';
import { type RecordOptions, record } from '../../src/record/record.ts';
import { CDN, type LiveServer, MAIN, serveLive } from '../support/record-server.ts';

let folder: string;
let server: LiveServer;

const html = (body: string) => (_: unknown, response: Http2ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html>${body}`);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-hostile-'));
  server = await serveLive({
    [`${MAIN}/endless`]: html(
      `<script>const events = new EventSource('/events'); fetch('/drip')</script><img src="/never.png"><p>here`,
    ),
    [`${MAIN}/events`]: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first\n\n');
    },
    [`${MAIN}/drip`]: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const timer = setInterval(() => response.write('x'.repeat(1000)), 20);
      response.on('close', () => clearInterval(timer));
    },
    // The load event waits for it.
    [`${MAIN}/never.png`]: (_, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      response.write('x');
    },
    [`${MAIN}/names`]: html(
      `<img src="/../../../escape.png"><img src="/%2e%2e/%2e%2e/%2fetc%2fpasswd"><img src="/..%5c..%5cx">` +
        `<img src="/${'long'.repeat(400)}"><img src="/nul%00"><script src="/site.json"></script>`,
    ),
    [`${MAIN}/site.json`]: (_, response) =>
      response.writeHead(200, { 'content-type': 'text/javascript' }).end('1'),
    [`${MAIN}/headers`]: html(`<img src="${CDN}/big-header"><img src="/many-headers">`),
    [`${CDN}/big-header`]: (_, response) => {
      response.stream.on('error', () => undefined);
      response.writeHead(200, { 'content-type': 'image/png', 'x-big': 'z'.repeat(10_000_000) }).end('x');
    },
    [`${MAIN}/many-headers`]: (_, response) => {
      response.writeHead(200, {
        'content-type': 'image/png',
        __proto__: 'x',
        'x-large': 'y'.repeat(20_000),
        'x-small': 'kept',
      });
      response.end();
    },
    [`${MAIN}/big`]: html(`<script src="/big.js"></script><script src="/small.js"></script>`),
    [`${MAIN}/big.js`]: (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/javascript', 'content-length': 3_000_000 })
        .end('/'.repeat(3_000_000)),
    [`${MAIN}/small.js`]: (_, response) =>
      response.writeHead(200, { 'content-type': 'text/javascript' }).end('2'),
    [`${MAIN}/others`]: html(
      `<script>window.open('/popup'); alert('stop'); navigator.serviceWorker?.register('/sw.js').catch(() => {});</script>` +
        `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><img src="${CDN}:9/port.png"><img src="https://nowhere.record.invalid/x.png">`,
    ),
    [`${MAIN}/reload`]: html(`<script>setTimeout(() => location.reload(), 50)</script>`),
    [`${CDN}/x`]: html(''),
  });
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const optionsFor = (path: string, more: Partial<RecordOptions> = {}): RecordOptions => ({
  url: `${MAIN}${path}`,
  out: join(folder, path),
  name: 'hostile',
  executablePath: chromiumPath(),
  headed: false,
  timeoutMs: 30_000,
  waitMs: 1500,
  maxBytes: 2 ** 24,
  seed: 1,
  args: server.args,
  protocols: 'seen',
  signal: new AbortController().signal,
  ...more,
});

describe('recording a hostile page', () => {
  it('keeps the received part of a page that never ends', async () => {
    const page = await record(optionsFor('/endless', { timeoutMs: 5000 }));
    expect(page.notes[0]).toMatch(/no load event in time/);
    const drip = page.requests.find(({ url }) => url.endsWith('/drip'));
    expect(drip).toMatchObject({ status: 200, kept: 'partial' });
    expect(drip?.replayedBytes).toBeGreaterThan(1000);
    const { body } = page.site.resources.find(({ path }) => path === '/events') as { body: { file: string } };
    expect(await readFile(join(folder, 'endless', body.file), 'utf8')).toBe('data: first\n\n');
  });

  it('writes nothing outside its folder, whatever names the page uses', async () => {
    const before = await readdir(folder);
    const page = await record(optionsFor('/names'));
    expect((await readdir(folder)).filter((name) => !before.includes(name))).toEqual(['names']);
    expect((await readdir(join(folder, 'names'))).toSorted()).toEqual(['bodies', 'record.json', 'site.json']);
    expect(await readdir(join(folder, 'names/bodies'))).toHaveLength(page.site.resources.length);
    expect(page.site.resources.map(({ path }) => path)).toContain('/site.json');
    JSON.parse(await readFile(join(folder, 'names/site.json'), 'utf8'));
  });

  it('leaves out oversized headers', async () => {
    const page = await record(optionsFor('/headers'));
    const many = page.site.resources.find(({ path }) => path === '/many-headers');
    expect(many?.headers).toMatchObject({ 'x-small': 'kept' });
    expect(many?.headers).not.toHaveProperty('x-large');
    expect(page.requests.find(({ url }) => url.endsWith('/big-header'))).toMatchObject({ kept: 'left out' });
    expect(page.requests.find(({ url }) => url.endsWith('/many-headers'))?.notes.join()).toMatch(/x-large/);
  });

  it('replaces bodies beyond the limit by noise of their size', async () => {
    const page = await record(optionsFor('/big', { maxBytes: 1_000_000 }));
    expect(page.site.resources.find(({ path }) => path === '/big.js')?.body).toEqual({
      filler: 'bytes',
      bytes: 3_000_000,
    });
    expect(page.requests.find(({ url }) => url.endsWith('/small.js'))?.kept).toBe('whole');
  });

  it('leaves out what a site cannot serve, and is not stopped by dialogs, windows and workers', async () => {
    const page = await record(optionsFor('/others'));
    const kept = page.requests.map(({ url, kept }) => [new URL(url).host + new URL(url).pathname, kept]);
    expect(Object.fromEntries(kept)).toEqual({
      'www.record.test/others': 'whole',
      'www.record.test/favicon.ico': 'whole',
      'cdn.record.test:9/port.png': 'left out',
      'nowhere.record.invalid/x.png': 'left out',
    });
    expect(page.site.origins.map(({ origin }) => origin)).toEqual([MAIN]);
    expect(page.site.origins[0]?.protocols).toEqual(['h1', 'h2']);
  });

  it('terminates on a page that reloads itself forever', async () => {
    const page = await record(optionsFor('/reload', { timeoutMs: 5000 }));
    expect(page.site.resources.map(({ path }) => path)).toContain('/reload');
    expect(page.requests.filter(({ kept }) => kept === 'repeated').length).toBeGreaterThan(1);
  });

  it('refuses a folder with foreign content, before loading anything', async () => {
    const out = join(folder, 'mine');
    await mkdir(out);
    await writeFile(join(out, 'thesis.txt'), '');
    await expect(record(optionsFor('/others', { out }))).rejects.toMatchObject({
      name: 'UserError',
      exitCode: 2,
      message: expect.stringMatching(/expected a site or nothing there, found thesis.txt/),
    });
    expect(await readdir(out)).toEqual(['thesis.txt']);
  });

  it('reports a failed page load in one line', async () => {
    const refused = record(optionsFor('/others', { url: 'https://nowhere.record.invalid/' }));
    await expect(refused).rejects.toMatchObject({
      name: 'UserError',
      message: expect.stringMatching(/^https:\/\/nowhere.record.invalid\/: no page came: [^\n]+$/),
    });
  });
});

import { createSocket, type Socket } from 'node:dgram';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { chromiumPath } from '../../src/browser/chromium.ts';
import { type Measured, measureProtocols } from '../../src/loads/measure-protocols.ts';
import { type Load, MeasuringBrowser } from '../../src/loads/measuring-browser.ts';
import type { ProtocolMode } from '../../src/loads/protocol-args.ts';
import { generateSite } from '../../src/pages/page-generator.ts';
import { type SiteServer, serveSite } from '../support/site-server.ts';

const page = generateSite({
  kind: 'news',
  seed: 2,
  name: 'truth',
  requests: 24,
  origins: 3,
  bytes: 200_000,
  depth: 3,
});

let server: SiteServer;
let open: MeasuringBrowser[] = [];
/** Each load is cold, so tests share them. */
const shared = new Map<ProtocolMode, MeasuringBrowser>();

beforeAll(async () => {
  server = await serveSite(page);
});
afterAll(async () => {
  for (const browser of shared.values()) await browser.close();
  await server.close();
});
afterEach(async () => {
  for (const browser of open) await browser.close();
  open = [];
});

async function launch(
  protocol: ProtocolMode,
  { caSpki, hosts, resolverRules }: Pick<SiteServer, 'caSpki' | 'hosts' | 'resolverRules'> = server,
  args: string[] = [],
): Promise<MeasuringBrowser> {
  const browser = await MeasuringBrowser.launch({
    executablePath: chromiumPath(),
    protocol,
    caSpki,
    hosts,
    args: [`--host-resolver-rules=${resolverRules}`, ...args],
  });
  open.push(browser);
  return browser;
}

async function browserOf(protocol: ProtocolMode): Promise<MeasuringBrowser> {
  const running = shared.get(protocol);
  if (running !== undefined) return running;
  const browser = await launch(protocol);
  open = open.filter((each) => each !== browser);
  shared.set(protocol, browser);
  return browser;
}

describe('MeasuringBrowser', () => {
  it.each(drawShare(['h1', 'h2'] as const, 1))(
    'proves every request of a load under %s',
    async (protocol) => {
      const browser = await browserOf(protocol);
      const load = (await browser.load(page.site.entry, { timeoutMs: 20_000 })) as Load;
      expect(load).toMatchObject({ ok: true, proved: true, failed: [] });
      expect(load.requests.map(({ url }) => url).toSorted()).toEqual(
        page.site.resources.map(({ origin, path }) => origin + path).toSorted(),
      );
      expect(new Set(load.requests.map((request) => request.protocol))).toEqual(new Set([protocol]));
      expect(load.fcpMs).toBeGreaterThan(0);
      expect(load.lcpMs).toBeGreaterThanOrEqual(load.fcpMs as number);
      expect(load.pltMs).toBeGreaterThan(0);
      for (const { startMs, endMs } of load.requests) expect(endMs).toBeGreaterThan(startMs);
      const bytes = load.requests.reduce((sum, request) => sum + request.bytes, 0);
      expect(bytes).toBeGreaterThan(200_000);
      expect(bytes).toBeLessThan(225_000);
    },
  );

  it('sees the script of a worker, and its requests', async () => {
    const { origin } = page.site.origins[0]!;
    const resources = [
      ['/', 'text/html', '<!doctype html><title>W</title><p>W<script src="/a.js"></script>'],
      // The load event waits for the worker's fetches.
      [
        '/a.js',
        'text/javascript',
        `document.write('<img src="/held.png">');
        new Worker('/worker.js').onmessage = () => new Image().src = '/last.png';`,
      ],
      // Delayed, as a worker starts without waiting for its observer.
      [
        '/worker.js',
        'text/javascript',
        'setTimeout(() => fetch("/c.json").then(() => postMessage(0)), 1000)',
      ],
      ['/c.json', 'application/json', '{}'],
      ['/held.png', 'image/png', ''],
      ['/last.png', 'image/png', ''],
    ] as const;
    const served = await serveSite({
      site: {
        ...page.site,
        entry: `${origin}/`,
        resources: resources.map(([path, type]) => ({
          origin,
          path,
          status: 200,
          headers: { 'content-type': type },
          body: { file: path },
          thinkMs: path === '/held.png' ? 4000 : 0,
        })),
      },
      files: new Map(resources.map(([path, , text]) => [path, new TextEncoder().encode(text)])),
    });
    try {
      const browser = await launch('h2', served);
      const load = (await browser.load(`${origin}/`, { timeoutMs: 20_000 })) as Load;
      expect(load).toMatchObject({ ok: true, proved: true, failed: [] });
      const { requests } = load.recording!;
      const pathOf = (id: number | null) => (id === null ? null : new URL(requests[id]!.url).pathname);
      const asked = requests.map(({ id, type, status, initiator }) => [
        pathOf(id),
        [type, status, pathOf(initiator.requestId)],
      ]);
      expect(Object.fromEntries(asked)).toEqual({
        '/': ['document', 200, null],
        '/a.js': ['script', 200, '/'],
        '/held.png': ['image', 200, '/a.js'],
        // The browser's process does not report the initiating script.
        '/worker.js': ['script', 200, '/'],
        '/c.json': ['fetch', 200, '/worker.js'],
        '/last.png': ['image', 200, '/a.js'],
      });
      const [script] = requests.filter(({ url }) => url.endsWith('/worker.js'));
      expect(script).toMatchObject({ protocol: 'h2', fromCache: false });
      expect(script!.endMs).toBeGreaterThan(script!.startMs);
    } finally {
      await served.close();
    }
  });

  it('starts each load cold', async () => {
    const browser = await browserOf('h2');
    const before = server.requested.length;
    for (let round = 0; round < 2; round++) await browser.load(page.site.entry, { timeoutMs: 20_000 });
    expect(server.requested.length - before).toBe(2 * page.site.resources.length);
  });

  it('accepts any protocol as proof of the natural choice', async () => {
    const browser = await browserOf('natural');
    const load = (await browser.load(page.site.entry, { timeoutMs: 20_000 })) as Load;
    expect(load.proved).toBe(true);
    expect(load.requests.every(({ protocol }) => protocol === 'h2')).toBe(true);
  });

  it('does not call a load proved if its requests used another protocol', async () => {
    const browser = await launch('h3', server, ['--disable-quic']);
    const load = (await browser.load(page.site.entry, { timeoutMs: 20_000 })) as Load;
    expect(load).toMatchObject({ ok: true, proved: false });
    expect(load.requests.every(({ protocol }) => protocol === 'h2')).toBe(true);
  });

  it('lists requests that failed', async () => {
    const [, image] = page.site.resources.filter(({ path }) => path.endsWith('.png'));
    const site = {
      ...page.site,
      resources: page.site.resources.map((resource) =>
        resource === image ? { ...resource, status: 404 } : resource,
      ),
    };
    const broken = await serveSite({ site, files: page.files });
    try {
      const browser = await launch('h2', broken);
      const load = (await browser.load(site.entry, { timeoutMs: 20_000 })) as Load;
      expect(load.failed).toEqual([{ url: image!.origin + image!.path, reason: 'status 404' }]);
    } finally {
      await broken.close();
    }
  });

  it('reports a missing load event, and the number of open requests', async () => {
    const hero = page.site.resources.find(({ path }) => path.includes('hero'));
    const site = {
      ...page.site,
      resources: page.site.resources.map((resource) =>
        resource === hero ? { ...resource, thinkMs: 60_000 } : resource,
      ),
    };
    const slow = await serveSite({ site, files: page.files });
    try {
      const browser = await launch('h2', slow);
      // All other requests have ended by then.
      expect(await browser.load(site.entry, { timeoutMs: 6000 })).toMatchObject({
        ok: false,
        kind: 'timeout',
        reason: 'no load event in 6000 ms, 1 requests open',
      });
    } finally {
      await slow.close();
    }
  });

  it('reports an unanswered document', async () => {
    const browser = await launch('h2', { ...server, resolverRules: 'MAP * 127.0.0.1:1' });
    const failure = await browser.load(page.site.entry, { timeoutMs: 20_000 });
    expect(failure).toMatchObject({
      ok: false,
      kind: 'unreachable',
      reason: expect.stringMatching(/^no answer for \S+: .*ERR_CONNECTION_REFUSED/),
    });
  });

  it('reports a browser that has ended', async () => {
    const browser = await launch('h2');
    await browser.close();
    expect(await browser.load(page.site.entry, { timeoutMs: 20_000 })).toMatchObject({
      ok: false,
      kind: 'browser',
    });
  });

  describe('with unanswered UDP', () => {
    let silent: Socket;
    beforeAll(async () => {
      silent = createSocket('udp4');
      await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
    });
    afterAll(() => silent.close());

    it('gives up on h3 within ten seconds', async () => {
      const browser = await launch('h3', {
        ...server,
        resolverRules: `MAP * 127.0.0.1:${silent.address().port}`,
      });
      const started = Date.now();
      expect(await browser.load(page.site.entry, { timeoutMs: 30_000 })).toMatchObject({
        ok: false,
        kind: 'unreachable',
        // Ten seconds including overhead, on an idle machine; Chromium may give up before.
        reason: expect.stringMatching(/^no answer for \S+( in 9000 ms$|: .*QUIC)/),
      });
      expect(Date.now() - started).toBeLessThan(25_000);
    });
  });
});

describe('measureProtocols', () => {
  it('measures h1 and h2 side by side', async () => {
    const h1 = await browserOf('h1');
    const h2 = await browserOf('h2');
    const measured = await measureProtocols({
      browsers: { h1, h2 },
      url: page.site.entry,
      loadsPerProtocol: 2,
      timeoutMs: 20_000,
    });
    for (const protocol of ['h1', 'h2'] as const) {
      const { medianMs, lowMs, highMs, proved, loads } = measured[protocol] as Measured;
      expect(loads).toHaveLength(2);
      expect(proved).toBe(2);
      expect(lowMs).toBeLessThanOrEqual(medianMs);
      expect(medianMs).toBeLessThanOrEqual(highMs);
    }
  });
});

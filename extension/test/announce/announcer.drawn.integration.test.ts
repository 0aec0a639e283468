/** The client hint Start-Rate, from the built extension in real browsers to a server that asks for it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { learnNetwork } from '@hopwise/pageload-emulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import type { Settings } from '../../src/storage/settings.ts';
import { FirefoxBrowser, firefoxPath, makeProfile } from '../firefox/firefox.ts';
import { launch } from '../support/browser.ts';
import { largePage } from '../support/large-page.ts';
import { setOwnItems } from '../support/own-items.ts';

const built = fileURLToPath(new URL('../../dist/', import.meta.url));
const firefox = firefoxPath();

let server: Server;
let port: number;
/** Requests with the hint that each had. */
let seen: { host: string; path: string; hint: string | undefined }[] = [];

beforeAll(async () => {
  server = createServer(({ url, headers }, response) => {
    seen.push({ host: headers.host!, path: url!, hint: headers['start-rate'] as string | undefined });
    const asks: Record<string, object> = {
      '/asks': { 'accept-ch': 'DPR, Start-Rate' },
      '/ends': { 'accept-ch': 'DPR' },
    };
    const page = `<img src="/own.svg"><img src="http://localhost:${port}/other.svg">`;
    const image = '<svg xmlns="http://www.w3.org/2000/svg"/>';
    const isPage = !url!.endsWith('.svg');
    response.writeHead(200, {
      'content-type': isPage ? 'text/html' : 'image/svg+xml',
      'cache-control': 'no-store',
      ...asks[url!],
    });
    response.end(isPage ? page : image);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  ({ port } = server.address() as AddressInfo);
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** What is stored of a satellite's network of 25 Mbit/s after five loads. */
function knownNetwork() {
  const network = learnNetwork(null, largePage(20));
  return {
    ...network,
    loads: 5,
    updatedAtMs: Date.now(),
    downBps: { ...network.downBps, mean: Math.log(25e6) },
    rttMs: { ...network.rttMs, mean: Math.log(600) },
  };
}

interface Driver {
  load(url: string): Promise<void>;
  change(settings: Partial<Settings>): Promise<void>;
  /** Stores what is known of the network, which no helper recognises. */
  store(network: object): Promise<void>;
}

async function expectHints({ load, change, store }: Driver): Promise<void> {
  const page = (path: string) => `http://127.0.0.1:${port}${path}`;
  /** Loads a page, and returns the hint of its requests by host and path. */
  const hintsOf = async (path: string) => {
    seen = [];
    await load(page(path));
    const own = seen.filter(({ path: each }) => each !== '/favicon.ico');
    return Object.fromEntries(own.map((each) => [each.host.split(':')[0] + each.path, each.hint]));
  };
  const none = {
    '127.0.0.1/asks': undefined,
    '127.0.0.1/own.svg': undefined,
    'localhost/other.svg': undefined,
  };

  // It is off at first.
  await store(knownNetwork());
  expect(await hintsOf('/asks')).toEqual(none);
  expect(await hintsOf('/asks')).toEqual(none);

  // A change is made after all answers seen before it: none of these is left for the time in which hopwise announces.
  await change({ announcesStartRate: false });
  await change({ announcesStartRate: true });
  // The server has not asked since.
  expect(await hintsOf('/plain')).toMatchObject({ '127.0.0.1/plain': undefined });
  await hintsOf('/asks');
  const asked = { '127.0.0.1/asks': '20', '127.0.0.1/own.svg': '20', 'localhost/other.svg': undefined };
  await expect.poll(() => hintsOf('/asks'), { timeout: 10_000 }).toEqual(asked);
  // Asking is of the origin.
  expect(await hintsOf('/plain')).toMatchObject({ '127.0.0.1/plain': '20' });

  await hintsOf('/ends');
  await expect
    .poll(() => hintsOf('/plain'), { timeout: 10_000 })
    .toMatchObject({ '127.0.0.1/plain': undefined });

  await expect.poll(() => hintsOf('/asks'), { timeout: 10_000 }).toEqual(asked);
  await change({ announcesStartRate: false });
  expect(await hintsOf('/asks')).toEqual(none);
}

async function announceInChromium(): Promise<void> {
  const browser = await launch(join(built, 'chromium'));
  try {
    const own = await browser.openOwn('devtools.html');
    const tab = await browser.context.newPage();
    await expectHints({
      load: async (url) => void (await tab.goto(url, { waitUntil: 'networkidle' })),
      change: async (change) => {
        expect(await browser.ask(own, { type: 'change-settings', change })).toMatchObject({ ok: true });
      },
      store: (network) =>
        own.evaluate(setOwnItems, { networks: { '': { sites: { 'page.test': network } } } }) as Promise<void>,
    });
  } finally {
    await browser.close();
  }
}

async function announceInFirefox(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'hopwise-announce-'));
  makeProfile(home, { trusted: [] });
  const browser = await FirefoxBrowser.launch(join(built, 'firefox'), home, {});
  try {
    const own = await browser.openOwn('options.html');
    const tab = await browser.open(`http://127.0.0.1:${port}/plain`);
    await expectHints({
      load: (url) => tab.goto(url),
      change: async (change) => {
        expect(await browser.ask(own, { type: 'change-settings', change })).toMatchObject({ ok: true });
      },
      store: (network) =>
        own.evaluate(setOwnItems, { networks: { '': { sites: { 'page.test': network } } } }),
    });
  } finally {
    await browser.close();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

const BROWSERS = [
  { name: 'Chromium', announce: announceInChromium },
  { name: 'Firefox', announce: announceInFirefox },
].filter(({ name }) => firefox || name !== 'Firefox');

test.each(drawShare(BROWSERS, 1, ({ name }) => `announce ${name}`))(
  '$name announces the rate to servers that ask for it, on their own pages',
  ({ announce }) => announce(),
);

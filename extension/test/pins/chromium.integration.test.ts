/** Pins in real Chromium, with the real host, on a server that offers HTTP/3 by Alt-Svc. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { PinKind } from '@hopwise/contract';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Server } from '../../../native-host/test/support/server.ts';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { type ExtensionBrowser, launch } from '../support/browser.ts';
import { TestHost } from './host.ts';
import * as requests from './pin-requests.ts';
import { H2, H3 } from './pin-requests.ts';
import { HOST } from './pinned-host.ts';
import { allowPins, EXTENSION, launchToPin } from './pinning-chromium.ts';

/** `nobody`, on any Linux. */
const OTHER_USER = 65_534;

let served: requests.PinnedServer;
let server: Server;
let origin: string;
let host: TestHost;
let browser: ExtensionBrowser;
/** A page of the extension through which the tests send messages. */
let own: Page;
let page: Page;
let pins: requests.PinRequests;

beforeAll(async () => {
  served = await requests.serveHost();
  ({ server, origin } = served);
  host = new TestHost();
  ({ browser, own, page } = await launchToPin(server.port, host));
  await host.register(browser.profile);
  pins = new requests.PinRequests((request) => browser.ask(own, request), origin);
});

afterEach(async () => {
  await page.goto('about:blank');
  for (const { origin } of await pins.all()) await pins.unpin(origin);
});

afterAll(async () => {
  await browser?.close();
  await vi.waitFor(() => expect(host.running()).toEqual([]), { timeout: 60_000 });
  host?.remove();
  await served?.stop();
});

const carried = () => requests.carried(page, server);
const becomes = (wanted: string) => requests.becomes(wanted, page, server);

/** Opens the page and waits until Alt-Svc has brought it to HTTP/3. */
async function openOverH3(): Promise<void> {
  await page.goto(server.url('/status/200', HOST));
  await becomes(H3);
}

const proxySettings = () => own.evaluate(() => chrome.proxy.settings.get({}));
async function proxyPort(): Promise<number> {
  const { value } = await proxySettings();
  return Number(/PROXY 127\.0\.0\.1:(\d+)/.exec(value.pacScript?.data ?? '')?.[1]);
}

test('a page avoids HTTP/3 from its first visit on', async () => {
  expect(await own.evaluate(() => typeof chrome.webRequest)).toBe('undefined');
  expect(host.running()).toEqual([]);
  expect(await pins.pin()).toMatchObject({ ok: true });
  await page.goto(server.url('/status/200', HOST));
  expect((await server.seen(1))[0]).toMatchObject({ proto: 'HTTP/2.0', host: `${HOST}:${server.port}` });
  for (let request = 0; request < 5; request++) expect(await carried()).toBe(H2);
});

test('an open page avoids HTTP/3 from its next request on, and returns to it', async () => {
  await openOverH3();
  expect(await pins.pin()).toMatchObject({ ok: true, allowed: true, pins: [{ origin, state: 'active' }] });
  expect(await carried()).toBe(H2);
  expect(await carried()).toBe(H2);
  // One that was asked for the network may still be ending.
  await expect.poll(() => host.running()).toHaveLength(1);
  expect(await pins.unpin()).toMatchObject({ ok: true, allowed: true, pins: [] });
  await becomes(H3);
  expect(await proxySettings()).toMatchObject({ value: { mode: 'system' } });
});

test('of a popup that is closed midway all pins are made, none of them where one is refused', async () => {
  const other = `https://other.lab.test:${server.port}`;
  const askAndClose = async (origins: string[], kinds: PinKind[]): Promise<void> => {
    const popup = await browser.openOwn('popup.html');
    await popup.evaluate(
      ([origins, kinds]) => {
        const pins = origins.map((origin, at) => ({ origin, kind: kinds[at], allowLocal: true }));
        void chrome.runtime.sendMessage({ type: 'pin', pins, minutes: 60, persistent: false });
      },
      [origins, kinds] as const,
    );
    await popup.close();
  };
  await askAndClose([origin, other], ['avoid-h3', 'avoid-h3']);
  await expect
    .poll(() => pins.all())
    .toMatchObject([
      { origin, state: 'active' },
      { origin: other, state: 'active' },
    ]);
  await pins.unpin(other);
  // There is no local CA, so the helper refuses the second pin; the first one replaces nothing.
  await askAndClose([other, origin], ['avoid-h3', 'h1']);
  // Changes take turns: this one is made after the refused pins.
  expect(await pins.pin()).toMatchObject({ ok: true, pins: [{ origin, kind: 'avoid-h3', state: 'active' }] });
  expect((await pins.all()).map((pin) => pin.origin)).toEqual([origin]);
});

test('without the helper the page still loads, and the user sees the reason', async () => {
  await openOverH3();
  await pins.pin();
  expect(await carried()).toBe(H2);
  for (const pid of host.running()) process.kill(pid, 'SIGKILL');
  await becomes(H3);
  await expect
    .poll(() => pins.all())
    .toMatchObject([{ origin, state: 'lifted', reason: expect.stringContaining('helper stopped') }]);
  expect(await proxySettings()).toMatchObject({ value: { mode: 'system' } });
  const popup = await browser.openOwn('popup.html');
  await popup.getByText('may use HTTP/3 again: The helper stopped').waitFor();
  await popup.getByRole('button', { name: `Dismiss ${origin}` }).click();
  await expect.poll(() => pins.all()).toEqual([]);
});

test('a pin of this machine waits, because Chromium uses no proxy for it', async () => {
  const here = server.url('');
  const waiting = [
    { origin: here, state: 'waiting', reason: expect.stringContaining('Chromium never does') },
  ];
  expect(await new requests.PinRequests((request) => browser.ask(own, request), here).pin()).toMatchObject({
    ok: true,
    pins: waiting,
  });
  await expect.poll(async () => (await proxySettings()).value.pacScript?.data ?? '').toContain(here);
  await page.goto(server.url('/status/200'));
  await page.reload();
  expect(await pins.all()).toMatchObject(waiting);
});

test('settings of an earlier worker are cleared, and its pins are recreated', async () => {
  await openOverH3();
  await pins.pin();
  const before = await proxyPort();
  await browser.stopWorker(own);
  await expect.poll(() => pins.all()).toMatchObject([{ origin, state: 'active' }]);
  await expect.poll(proxyPort).not.toBe(before);
  await expect.poll(proxyPort).toBeGreaterThan(0);
  expect(await carried()).toBe(H2);
  await pins.unpin();
  // The state that a browser leaves behind if it ends while something is pinned.
  await own.evaluate(() =>
    chrome.proxy.settings.set({
      value: { mode: 'pac_script', pacScript: { data: 'function FindProxyForURL() { return "DIRECT"; }' } },
      scope: 'regular_only',
    }),
  );
  await browser.stopWorker(own);
  await expect.poll(() => pins.all()).toEqual([]);
  await expect.poll(proxySettings).toMatchObject({ value: { mode: 'system' } });
});

const PROXIES: [whose: string, args: string[], env: Record<string, string>, words: string][] = [
  ['a proxy that the user has set', ['--proxy-pac-url=data:,'], {}, 'already uses a proxy'],
  [
    'a proxy of the system',
    [],
    { https_proxy: 'http://127.0.0.1:9' },
    'set in the environment variable https_proxy',
  ],
];

test.each(drawShare(PROXIES, 1, ([whose]) => whose))(
  '%s is left unchanged',
  async (_whose, args, env, words) => {
    const other = await launch(EXTENSION, args, [], { ...host.env, ...env }, 'en-US', false);
    try {
      await host.register(other.profile);
      const page = await other.openOwn('devtools.html');
      await allowPins(page);
      const before = await page.evaluate(() => chrome.proxy.settings.get({}));
      expect(
        await other.ask(page, {
          type: 'pin',
          pins: [{ origin, kind: 'avoid-h3', allowLocal: true }],
          minutes: 60,
          persistent: false,
        }),
      ).toEqual({ ok: false, error: expect.stringContaining(words) });
      expect(await page.evaluate(() => chrome.proxy.settings.get({}))).toEqual(before);
    } finally {
      await other.close();
    }
  },
);

test('pages get no response from the helper’s port, and other users’ programs none either', async () => {
  await page.goto(server.url('/status/200', HOST));
  await pins.pin();
  const port = await proxyPort();
  const outcomes = await page.evaluate(
    (port) =>
      Promise.all(
        [fetch(`http://127.0.0.1:${port}/`, { mode: 'no-cors' }), fetch(`https://127.0.0.1:${port}/`)].map(
          (one) => one.then(String, ({ name }) => name),
        ),
      ),
    port,
  );
  expect(outcomes).toEqual(['TypeError', 'TypeError']);
  const said = (text: string) => `
    const socket = require('node:net').connect(${port}, '127.0.0.1', () => socket.write(${JSON.stringify(text)}));
    socket.once('data', (bytes) => { process.stdout.write(String(bytes)); socket.destroy(); }).on('error', () => {});`;
  const hear = async (text: string, uid = process.getuid!()) =>
    (await promisify(execFile)(process.execPath, ['-e', said(text)], { uid, cwd: '/' })).stdout;
  const connectTo = (authority: string) => `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
  const pinned = connectTo(`${HOST}:${server.port}`);
  expect(await hear('GET / HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('');
  expect(await hear(connectTo('other.example:443'))).toBe('');
  expect(await hear(pinned)).toBe('HTTP/1.1 200 Connection Established\r\n\r\n');
  if (process.getuid!() === 0) expect(await hear(pinned, OTHER_USER)).toBe('');
});

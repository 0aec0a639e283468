/** A pin does not let pages past Chromium's Local Network Access check, which does not apply to requests through a proxy. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Server, ServerProgram } from '../../../native-host/test/support/server.ts';
import { type ExtensionBrowser, launch } from '../support/browser.ts';
import { TestHost } from './host.ts';
import { PinRequests } from './pin-requests.ts';
import { HOST } from './pinned-host.ts';
import { allowPins, EXTENSION } from './pinning-chromium.ts';
import { publicKeyHash } from './public-key-hash.ts';

const PUBLIC_HOST = 'public.lab.test';

let program: ServerProgram;
/** Serves a page that Chromium takes for one from the public network. */
let site: Server;
/** Serves what the page may not reach. */
let local: Server;
let origin: string;
let host: TestHost;
let browser: ExtensionBrowser;
let own: Page;
let page: Page;
let pins: PinRequests;

beforeAll(async () => {
  program = new ServerProgram();
  [site, local] = await Promise.all([program.start(), program.start()]);
  origin = `https://${HOST}:${local.port}`;
  host = new TestHost();
  const keys = await Promise.all([site, local].map(({ port }) => publicKeyHash(port)));
  browser = await launch(
    EXTENSION,
    [
      '--host-resolver-rules=MAP *.lab.test 127.0.0.1',
      `--ignore-certificate-errors-spki-list=${keys.join(',')}`,
      `--ip-address-space-overrides=127.0.0.1:${site.port}=public`,
    ],
    [],
    host.env,
  );
  await host.register(browser.profile);
  own = await browser.openOwn('devtools.html');
  await allowPins(own);
  pins = new PinRequests((request) => browser.ask(own, request), origin);
  page = await browser.context.newPage();
  await page.goto(site.url('/status/200', PUBLIC_HOST));
  await local.seen();
});

afterAll(async () => {
  await browser?.close();
  await vi.waitFor(() => expect(host.running()).toEqual([]), { timeout: 60_000 });
  host.remove();
  await Promise.all([site.stop(), local.stop()]);
  program.remove();
});

/** Has the public page request the local server. @returns `arrived`, or the error */
async function requestLocally(): Promise<string> {
  return page.evaluate(
    (url) =>
      fetch(url, { mode: 'no-cors', cache: 'no-store' }).then(
        () => 'arrived',
        (error: Error) => error.message,
      ),
    `${origin}/bytes/10`,
  );
}

test('a public page reaches a local server neither without a pin nor with one', async () => {
  expect(await requestLocally()).toBe('Failed to fetch');
  expect(await pins.pin('avoid-h3', false)).toMatchObject({ ok: true, pins: [{ state: 'active' }] });
  expect(await requestLocally()).toBe('Failed to fetch');
  expect(await local.seen()).toEqual([]);
  await expect
    .poll(() => pins.all())
    .toMatchObject([
      {
        origin,
        state: 'lifted',
        isAddressRefused: true,
        reason: '127.0.0.1 is a loopback address, which a public page may not reach',
      },
    ]);
  expect(await requestLocally()).toBe('Failed to fetch');
  expect(await local.seen()).toEqual([]);
  expect(await pins.unpin()).toMatchObject({ ok: true, pins: [] });
});

test('a local origin is pinned once the user allows it where it was refused, until that is taken back', async () => {
  await pins.pin('avoid-h3', false);
  await requestLocally();
  await expect.poll(() => pins.all()).toMatchObject([{ state: 'lifted' }]);
  const popup = await browser.openOwn('popup.html');
  await popup.getByRole('button', { name: `Allow this local origin: ${origin}` }).click();
  await expect.poll(() => pins.all()).toMatchObject([{ state: 'active', allowLocal: true }]);
  expect(await requestLocally()).toBe('arrived');
  expect(await local.seen(1)).toMatchObject([{ path: '/bytes/10', proto: 'HTTP/2.0' }]);
  const options = await browser.openOwn('options.html');
  await options.getByRole('button', { name: `Remove ${origin}` }).click();
  await options.getByText('None. Pins of local origins are refused').waitFor();
  await expect.poll(() => pins.all()).toEqual([]);
  await expect.poll(requestLocally).toBe('Failed to fetch');
});

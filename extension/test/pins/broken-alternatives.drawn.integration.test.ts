/** What Chromium knows of HTTP/3 at a pinned origin A and at another one, B, after A's pin has ended: what `ChromiumSteering` goes by. */
import { createServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Server, ServerProgram } from '../../../native-host/test/support/server.ts';
import { launch } from '../support/browser.ts';
import { becomes, carried, H2, H3 } from './pin-requests.ts';
import { allowPins, EXTENSION } from './pinning-chromium.ts';
import { publicKeyHash } from './public-key-hash.ts';

const HOSTS = ['a.lab.test', 'b.lab.test'] as const;

let program: ServerProgram;
let servers: Server[];
let proxy: HttpServer;

beforeAll(async () => {
  program = new ServerProgram();
  servers = await Promise.all(HOSTS.map(() => program.start('-alt-svc', 'h3=":PORT"; ma=86400')));
  proxy = createServer().on('connect', ({ url }, socket) => {
    const port = Number(url!.split(':')[1]);
    const origin = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.pipe(origin).pipe(socket);
    });
    origin.on('error', () => socket.destroy());
    socket.on('error', () => origin.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  proxy.close();
  await Promise.all(servers.map((server) => server.stop()));
  program.remove();
});

/** A browser that uses HTTP/3 for both hosts, from which it then keeps A off by a proxy until that is removed. */
async function pinAndLiftA(): Promise<{ own: Page; ask: (at: 0 | 1) => Promise<string> }> {
  const keys = await Promise.all(servers.map(({ port }) => publicKeyHash(port)));
  const browser = await launch(EXTENSION, [
    '--host-resolver-rules=MAP *.lab.test 127.0.0.1',
    `--ignore-certificate-errors-spki-list=${keys.join(',')}`,
    // Chromium uses HTTP/3 with a private CA only at hosts for which QUIC is forced: here for ports without requests.
    `--origin-to-force-quic-on=${HOSTS.map((host) => `${host}:9`).join(',')}`,
  ]);
  onTestFinished(() => browser.close());
  const own = await browser.openOwn('devtools.html');
  await allowPins(own);
  const pages = await Promise.all(HOSTS.map(() => browser.context.newPage()));
  for (const [at, page] of pages.entries()) {
    await page.goto(servers[at]!.url('/status/200', HOSTS[at]));
    await becomes(H3, page, servers[at]!);
  }
  const data = `function FindProxyForURL(url, host) {
    return host === '${HOSTS[0]}' ? 'PROXY 127.0.0.1:${(proxy.address() as AddressInfo).port}' : 'DIRECT';
  }`;
  await own.evaluate(
    (data) =>
      chrome.proxy.settings.set({
        value: { mode: 'pac_script', pacScript: { data } },
        scope: 'regular_only',
      }),
    data,
  );
  await becomes(H2, pages[0]!, servers[0]!);
  await own.evaluate(() => chrome.proxy.settings.clear({ scope: 'regular_only' }));
  return { own, ask: (at) => carried(pages[at]!, servers[at]!) };
}

/** Removes no entry of the cache. @param origins '' for all */
const clearNothing = (own: Page, origin: string) =>
  own.evaluate(
    (origin) =>
      chrome.browsingData.remove(
        { since: Date.now(), ...(origin && { origins: [origin] as [string] }) },
        { cache: true },
      ),
    origin,
  );

/** More than one: the first request after Alt-Svc was forgotten is over HTTP/2 as well, and teaches it again. */
async function staysOff(ask: () => Promise<string>): Promise<void> {
  for (let request = 0; request < 5; request++) expect(await ask()).toBe(H2);
}

test('without a reset A stays off HTTP/3 for a while, and B on it', async () => {
  const { ask } = await pinAndLiftA();
  expect(await ask(1)).toBe(H3);
  await staysOff(() => ask(0));
  expect(await ask(1)).toBe(H3);
});

test('a reset brings A back, and has the browser forget at every origin that it offers HTTP/3', async () => {
  const { own, ask } = await pinAndLiftA();
  expect(await ask(1)).toBe(H3);
  await clearNothing(own, '');
  expect([await ask(0), await ask(1)]).toEqual([H2, H2]);
  await expect.poll(() => ask(0)).toBe(H3);
  await expect.poll(() => ask(1)).toBe(H3);
});

test('a reset of A alone resets nothing', async () => {
  const { own, ask } = await pinAndLiftA();
  await clearNothing(own, servers[0]!.url('', HOSTS[0]));
  expect(await ask(1)).toBe(H3);
  await staysOff(() => ask(0));
});

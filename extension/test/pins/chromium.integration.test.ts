/** Pins in real Chromium, with the real host, on a server that offers HTTP/3 by Alt-Svc. */
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Server, ServerProgram } from '../../../native-host/test/support/server.ts';
import { type ExtensionBrowser, launch } from '../browser.ts';
import { TestHost } from './host.ts';
import { publicKeyHash } from './public-key-hash.ts';

const room = fileURLToPath(new URL('../..', import.meta.url));
const HOST = 'a.lab.test';

let program: ServerProgram;
let server: Server;
let host: TestHost;
let browser: ExtensionBrowser;
/** A page of the extension that speaks for the tests. */
let own: Page;
let page: Page;
let origin: string;

beforeAll(async () => {
  program = new ServerProgram();
  server = await program.start();
});

afterAll(async () => {
  await server?.stop();
  program?.remove();
});

beforeEach(async () => {
  host = new TestHost();
  origin = `https://${HOST}:${server.port}`;
  browser = await launch(
    `${room}dist/chromium`,
    [
      '--host-resolver-rules=MAP *.lab.test 127.0.0.1',
      `--ignore-certificate-errors-spki-list=${await publicKeyHash(server.port)}`,
      // Chromium has no HTTP/3 with a CA of one's own, unless it is forced somewhere: here where nobody asks.
      `--origin-to-force-quic-on=${HOST}:9`,
    ],
    [],
    host.env,
  );
  host.register(browser.profile);
  own = await browser.openOwn('devtools.html');
  const granted = await own.evaluate(() =>
    chrome.permissions.request({
      permissions: chrome.runtime.getManifest().optional_permissions as chrome.runtime.ManifestPermission[],
    }),
  );
  expect(granted).toBe(true);
  page = await browser.context.newPage();
});

afterEach(async () => {
  await browser.close();
  await expect.poll(() => host.running(), { timeout: 20_000 }).toEqual([]);
  host.remove();
});

let serial = 0;

/** Has the open page ask for something: what the browser and the server say that carried it. */
async function carried(): Promise<string> {
  const path = `/bytes/1000/${++serial}`;
  const protocol = await page.evaluate(async (url) => {
    await (await fetch(url, { cache: 'no-store' })).arrayBuffer();
    const entries = performance.getEntriesByName(new URL(url, location.href).href);
    return (entries.at(-1) as PerformanceResourceTiming).nextHopProtocol;
  }, path);
  const seen = await server.seen(1);
  return `${protocol} ${seen.find((one) => one.path === path)?.proto}`;
}

const H2 = 'h2 HTTP/2.0';
const H3 = 'h3 HTTP/3.0';
const becomes = (wanted: string) => expect.poll(carried, { timeout: 20_000, interval: 50 }).toBe(wanted);

/** Opens the page and waits until Alt-Svc has brought it to HTTP/3. */
async function openOverH3(): Promise<void> {
  await page.goto(server.url('/status/200', HOST));
  await becomes(H3);
}

const pin = () => browser.ask(own, { type: 'pin', origin, kind: 'avoid-h3', minutes: 60, persistent: false });
const unpin = () => browser.ask(own, { type: 'unpin', origin });
/** What is asked of a worker while it is being stopped may never be answered. */
const NO_ANSWER_MS = 5000;
const pins = async () => {
  const late = new Promise<never>((_, reject) => setTimeout(reject, NO_ANSWER_MS, new Error('no answer')));
  const answer = await Promise.race([browser.ask(own, { type: 'pins' }), late]);
  if (!answer.ok) throw new Error(answer.error);
  return answer.pins;
};
const proxySettings = () => own.evaluate(() => chrome.proxy.settings.get({}));
async function proxyPort(): Promise<number> {
  const { value } = await proxySettings();
  return Number(/PROXY 127\.0\.0\.1:(\d+)/.exec(value.pacScript?.data ?? '')?.[1]);
}

test('an open page is kept off HTTP/3 from its next request on, and comes back to it', async () => {
  await openOverH3();
  expect(host.running()).toEqual([]);
  expect(await pin()).toMatchObject({ ok: true, allowed: true, pins: [{ origin, state: 'active' }] });
  expect(await carried()).toBe(H2);
  expect(await carried()).toBe(H2);
  expect(host.running()).toHaveLength(1);
  expect(await unpin()).toMatchObject({ ok: true, allowed: true, pins: [] });
  await becomes(H3);
  expect(await proxySettings()).toMatchObject({ value: { mode: 'system' } });
});

test('a page is kept off HTTP/3 from its first visit on', async () => {
  expect(await pin()).toMatchObject({ ok: true });
  await page.goto(server.url('/status/200', HOST));
  expect((await server.seen(1))[0]).toMatchObject({ proto: 'HTTP/2.0', host: `${HOST}:${server.port}` });
  for (let request = 0; request < 5; request++) expect(await carried()).toBe(H2);
});

test('without the helper the page loads on, and the person is told', async () => {
  await openOverH3();
  await pin();
  expect(await carried()).toBe(H2);
  const [pid] = host.running();
  process.kill(pid!, 'SIGKILL');
  await becomes(H3);
  await expect
    .poll(pins)
    .toMatchObject([{ origin, state: 'lifted', reason: expect.stringContaining('helper stopped') }]);
  expect(await proxySettings()).toMatchObject({ value: { mode: 'system' } });
  const popup = await browser.openOwn('popup.html');
  await popup.getByText('may use HTTP/3 again: The helper stopped').waitFor();
  await popup.getByRole('button', { name: `Dismiss ${origin}` }).click();
  await expect.poll(pins).toEqual([]);
});

test('settings that an earlier worker left are cleared, and its pins taken up', async () => {
  await openOverH3();
  await pin();
  const before = await proxyPort();
  await browser.stopWorker(own);
  await expect.poll(pins, { timeout: 20_000 }).toMatchObject([{ origin, state: 'active' }]);
  await expect.poll(proxyPort, { timeout: 20_000 }).not.toBe(before);
  await expect.poll(proxyPort, { timeout: 20_000 }).toBeGreaterThan(0);
  expect(await carried()).toBe(H2);
  await unpin();
  // As a browser leaves it that ends while something is pinned.
  await own.evaluate(() =>
    chrome.proxy.settings.set({
      value: { mode: 'pac_script', pacScript: { data: 'function FindProxyForURL() { return "DIRECT"; }' } },
      scope: 'regular_only',
    }),
  );
  await browser.stopWorker(own);
  await expect.poll(pins, { timeout: 20_000 }).toEqual([]);
  await expect.poll(proxySettings).toMatchObject({ value: { mode: 'system' } });
});

test.each([
  ['the person’s own', ['--proxy-pac-url=data:,'], {}, 'a proxy of your own'],
  ['the system’s', [], { https_proxy: 'http://127.0.0.1:9' }, 'set in the environment variable https_proxy'],
])('a proxy of %s is left alone', async (_whose, args, env, words) => {
  const other = await launch(`${room}dist/chromium`, args, [], { ...host.env, ...env });
  try {
    host.register(other.profile);
    const page = await other.openOwn('devtools.html');
    await page.evaluate(() =>
      chrome.permissions.request({ permissions: ['browsingData', 'webRequestAuthProvider'] }),
    );
    const before = await page.evaluate(() => chrome.proxy.settings.get({}));
    expect(
      await other.ask(page, { type: 'pin', origin, kind: 'avoid-h3', minutes: 60, persistent: false }),
    ).toEqual({ ok: false, error: expect.stringContaining(words) });
    expect(await page.evaluate(() => chrome.proxy.settings.get({}))).toEqual(before);
  } finally {
    await other.close();
  }
});

test('pages and other processes get nothing from the helper’s port', async () => {
  await page.goto(server.url('/status/200', HOST));
  await pin();
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
  const said = (text: string) =>
    new Promise<string>((resolve) => {
      let heard = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket.on('data', (bytes) => {
        heard += bytes;
      });
      socket.on('error', () => {}).on('close', () => resolve(heard));
    });
  expect(await said('GET / HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('');
  const connectTo = (authority: string) =>
    said(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const pinned = await connectTo(`${HOST}:${server.port}`);
  expect(pinned).toMatch(/^HTTP\/1\.1 407 /);
  expect(await connectTo('other.example:443')).toBe(pinned);
});

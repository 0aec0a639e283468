/** Pages that load in several tabs at once, in real Chromium with the extension as it ships. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExtensionBrowser, launch } from '../support/browser.ts';
import { recorded } from '../support/recorded.ts';

/** How long the image of each page takes that it waits for, milliseconds, by the page's path. */
const SLOW_MS: Record<string, number> = { '/a': 3_000, '/b': 2_700, '/c': 3_300, '/later': 3_000 };

let server: Server;
let url: string;
let browser: ExtensionBrowser;
let own: Page;

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://site.test');
    if (pathname !== '/slow.png') {
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' });
      response.end(`<p>page</p><img src="/slow.png?of=${pathname}">`);
      return;
    }
    setTimeout(() => response.writeHead(404).end(), SLOW_MS[searchParams.get('of')!]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const built = fileURLToPath(new URL('../../dist/chromium', import.meta.url));
  browser = await launch(built, [], [], {}, 'en-US', false);
  own = await browser.openOwn('devtools.html');
});

afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
});

/** Loads a page in each of several tabs, one of them so much later, and reads what is known of their loads. */
async function loadAtOnce(paths: readonly string[], laterMs = 0) {
  const tabs = await Promise.all(paths.map(() => browser.context.newPage()));
  await Promise.all(
    tabs.map(async (tab, index) => {
      if (paths[index] === '/later') await new Promise((resolve) => setTimeout(resolve, laterMs));
      await tab.goto(url + paths[index]);
    }),
  );
  const loads = await Promise.all(tabs.map(async (tab) => (await recorded(tab, { browser, own })).load));
  const asked = await Promise.all(
    tabs.map(async (tab) =>
      browser.ask(own, { type: 'latest', tabId: await browser.tabIdOf(own, tab.url()) }),
    ),
  );
  await Promise.all(tabs.map((tab) => tab.close()));
  return { loads, asked };
}

test('a load of several at once does not stand for its page, one alone does', async () => {
  const alone = await loadAtOnce(['/a']);
  expect(alone.loads[0]!.overlap).toBe(0);
  expect(alone.asked[0]).toMatchObject({ incomplete: null });
  const { asked } = await loadAtOnce(['/a', '/b', '/c']);
  // Of the first page the load alone is shown.
  expect(asked.map((answer) => answer.ok && answer.incomplete)).toMatchObject([
    { kind: 'shared', isReplaced: true },
    { kind: 'shared', isReplaced: false },
    { kind: 'shared', isReplaced: false },
  ]);
  expect(asked[0]).toMatchObject({ loadId: alone.loads[0]!.id });
});

test('the share of its time is measured, also beside a tab that still loads', async () => {
  const { loads } = await loadAtOnce(['/b', '/later'], 1_800);
  const [first, later] = loads.map(({ overlap }) => overlap!);
  // A third of the one's 2.7 s, and 0.9 s of the other's 3 s.
  expect(first).toBeGreaterThan(0.1);
  expect(first).toBeLessThan(0.6);
  expect(later).toBeGreaterThan(0.1);
  expect(later).toBeLessThan(0.6);
});

/** What real browsers record of a page that is left while it loads: people do not wait for the pages that a network slows down most. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Recording } from '@hopwise/pageload-emulator';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { PageAnswers } from '../../src/background/page-requests.ts';
import { firefoxPath } from '../firefox/firefox.ts';
import { launchForTest } from '../firefox/launch-for-test.ts';
import { launch } from '../support/browser.ts';

const built = fileURLToPath(new URL('../../dist/', import.meta.url));
const firefox = firefoxPath();
if (!firefox) console.log('skipped: no Firefox (Debian: firefox-esr, or HOPWISE_FIREFOX)');

/** A page that is left sooner does not report. */
const STAY_MS = 3_500;

let server: Server;
let url: string;

/** One image comes at once, another one never. */
beforeAll(async () => {
  server = createServer(({ url: path }, response) => {
    if (path === '/never.png') return;
    const isPage = path === '/slow' || path === '/next';
    response.writeHead(200, { 'content-type': isPage ? 'text/html' : 'image/png' });
    response.end(path === '/slow' ? '<img src="/now.png"><img src="/never.png">' : isPage ? 'next' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** How the tab goes from the slow page to another one: browsers have another process for one of another site. */
const WAYS = {
  'for a page of its site': () => `location.href = '${url}/next'`,
  'for another site': () => `location.href = '${url.replace('127.0.0.1', 'localhost')}/next'`,
  back: () => 'history.back()',
};
type Way = keyof typeof WAYS;

/** Goes from page to page in one tab. @returns what is recorded of the slow one */
type Leave = (stayMs: number, way: Way) => Promise<() => Promise<Recording | null>>;

async function leaveInChromium(stayMs: number, way: Way): Promise<() => Promise<Recording | null>> {
  const browser = await launch(`${built}chromium`, [], ['--disable-back-forward-cache'], {}, 'en-US', false);
  onTestFinished(() => browser.close());
  const own = await browser.openOwn('devtools.html');
  const page = await browser.context.newPage();
  await page.goto(`${url}/next`);
  await page.goto(`${url}/slow`, { waitUntil: 'commit' });
  await wait(stayMs);
  await page.evaluate(WAYS[way]());
  return async () => recordingOf(await browser.ask(own, { type: 'latest', url: `${url}/slow` }));
}

async function leaveInFirefox(stayMs: number, way: Way): Promise<() => Promise<Recording | null>> {
  const browser = await launchForTest();
  const own = await browser.openOwn('popup.html');
  const tab = await browser.open(`${url}/next`);
  await tab.run(`location.href = '${url}/slow'`);
  await wait(stayMs);
  await tab.run(WAYS[way]());
  return async () => recordingOf(await browser.ask(own, { type: 'latest', url: `${url}/slow` }));
}

const recordingOf = (answer: PageAnswers['latest']): Recording | null =>
  answer.ok ? (answer.load?.recording ?? null) : null;

const BROWSERS: { name: string; leave: Leave }[] = [
  { name: 'Chromium', leave: leaveInChromium },
  ...(firefox ? [{ name: 'Firefox', leave: leaveInFirefox }] : []),
];

const CASES = BROWSERS.flatMap((browser) =>
  Object.keys(WAYS).map((way) => ({ ...browser, way: way as Way })),
);

test.each(CASES)(
  '$name: a page that is left $way before its load event is recorded as far as it came',
  async ({ leave, way }) => {
    const read = await leave(STAY_MS, way);
    await expect.poll(read, { timeout: 20_000 }).not.toBeNull();
    const { pltMs, requests } = (await read())!;
    expect(pltMs).toBeNull();
    const paths = requests.map((request) => request.url.replace(url, ''));
    expect(paths.filter((path) => path !== '/favicon.ico')).toEqual(['/slow', '/now.png']);
  },
);

test('a page that is left soon is not recorded', async () => {
  const read = await leaveInChromium(STAY_MS / 2, 'for a page of its site');
  await wait(2_000);
  expect(await read()).toBeNull();
});

/** What real browsers do for a host that rests: its pages are recorded once a person looks at them. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { PageAnswers } from '../../src/background/page-requests.ts';
import { firefoxPath } from '../firefox/firefox.ts';
import { launchForTest } from '../firefox/launch-for-test.ts';
import { launch } from '../support/browser.ts';

const built = fileURLToPath(new URL('../../dist/', import.meta.url));
const firefox = firefoxPath();
if (!firefox) console.log('skipped: no Firefox (Debian: firefox-esr, or HOPWISE_FIREFOX)');

/** After this time a load that is recorded has been reported. */
const REPORTED_MS = 2_500;

let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer(({ url: path }, response) => {
    response.writeHead(200, { 'content-type': path === '/' ? 'text/html' : 'image/png' });
    response.end(path === '/' ? '<img src="/a.png">' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Runs in a page of the extension: as `RestingHosts.rest` does, which takes loads from servers on the internet. */
async function restHere(): Promise<void> {
  const [script] = await chrome.scripting.getRegisteredContentScripts({ ids: ['recorder'] });
  await chrome.scripting.updateContentScripts([{ ...script!, excludeMatches: ['*://127.0.0.1/*'] }]);
}

/** Runs in a page of the extension. */
async function findTab(page: string): Promise<number | undefined> {
  return (await chrome.tabs.query({})).find((tab) => tab.url === page)?.id;
}

/** A browser with the page of a resting host in a tab. */
interface Resting {
  reload(): Promise<void>;
  ask(which: { url: string } | { tabId: number }): Promise<PageAnswers['latest']>;
  findTab(): Promise<number | undefined>;
}

async function openInChromium(): Promise<Resting> {
  const browser = await launch(`${built}chromium`, [], [], {}, 'en-US', false);
  onTestFinished(() => browser.close());
  const own = await browser.openOwn('devtools.html');
  await own.evaluate(restHere);
  const page = await browser.context.newPage();
  await page.goto(url);
  return {
    reload: async () => void (await page.reload()),
    ask: (which) => browser.ask(own, { type: 'latest', ...which }),
    findTab: () => own.evaluate(findTab, url),
  };
}

async function openInFirefox(): Promise<Resting> {
  const browser = await launchForTest();
  const own = await browser.openOwn('popup.html');
  await own.evaluate(restHere);
  const tab = await browser.open(url);
  return {
    reload: () => tab.reload(),
    ask: (which) => browser.ask(own, { type: 'latest', ...which }),
    findTab: () => own.evaluate(findTab, url),
  };
}

test.runIf(firefox !== null).each([
  ['Chromium', openInChromium],
  ['Firefox', openInFirefox],
] as const)(
  '%s records a page of a resting host once a person looks at it, and from then on',
  async (_name, open) => {
    const resting = await open();
    await wait(REPORTED_MS);
    expect(await resting.ask({ url })).toMatchObject({ phase: 'none', load: null });
    const tabId = (await resting.findTab())!;
    const looked = () => resting.ask({ tabId });
    await expect.poll(looked, { timeout: 10_000, interval: 250 }).toMatchObject({ phase: 'recorded' });
    const first = await looked();
    const { recording } = (first.ok && first.load) || {};
    expect(recording).toMatchObject({ url, pltMs: expect.any(Number) });
    expect(recording?.requests.map((request) => new URL(request.url).pathname)).toContain('/a.png');
    await resting.reload();
    await wait(REPORTED_MS);
    const second = await resting.ask({ url });
    expect(second.ok && second.loadId).toBeGreaterThan(first.ok ? first.loadId! : 0);
  },
);

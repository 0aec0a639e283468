/** What the autopilot pinned, after the browser was closed or killed and started again, in real Chromium with the real helper. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import type { PageAnswers, PageRequest } from '../../src/background/page-requests.ts';
import { TestHost } from '../pins/host.ts';
import * as requests from '../pins/pin-requests.ts';
import { H2 } from '../pins/pin-requests.ts';
import { HOST } from '../pins/pinned-host.ts';
import { launchToPin } from '../pins/pinning-chromium.ts';
import type { ExtensionBrowser } from '../support/browser.ts';

/** Chromium writes its preferences, with the granted permissions and the proxy settings, 10 s after a change at the latest. */
const PREFERENCES_MS = 11_000;

let served: requests.PinnedServer;
let host: TestHost;
let browser: ExtensionBrowser;

beforeAll(async () => {
  served = await requests.serveHost();
  host = new TestHost();
  let own: Page;
  ({ browser, own } = await launchToPin(served.server.port, host));
  await host.register(browser.profile);
  const pins = new requests.PinRequests((request) => browser.ask(own, request), served.origin);
  // The server is on this machine, which the autopilot leaves alone unless the user allows the origin.
  await pins.pin();
  await pins.unpin();
  const siteRules = [{ site: HOST, rule: 'avoid-h3' as const }];
  await browser.ask(own, { type: 'change-autopilot', change: { isOn: true, siteRules } });
});

afterAll(async () => {
  await browser?.close();
  await vi.waitFor(() => expect(host.running()).toEqual([]), { timeout: 60_000 });
  host?.remove();
  await served?.stop();
});

async function openPage(path: string) {
  const page = await browser.context.newPage();
  const answer = await page.goto(served.server.url(path, HOST));
  expect(answer!.status()).toBe(200);
  return page;
}

/** Asks the worker from a page of the extension, which closes again. */
async function ask<T extends PageRequest>(request: T): Promise<PageAnswers[T['type']]> {
  const own = await browser.openOwn('devtools.html');
  const answer = await browser.ask(own, request);
  await own.close();
  return answer;
}

async function listRuns() {
  const answer = await ask({ type: 'autopilot' });
  if (!answer.ok) throw new Error(answer.error);
  return answer.runs;
}

async function listPins() {
  const answer = await ask({ type: 'pins' });
  if (!answer.ok) throw new Error(answer.error);
  return answer.pins;
}

/** Loads the page until the rule is carried out: a load that begins before the worker runs is not recorded. */
async function loadUntilPinned(): Promise<Page> {
  const page = await openPage('/status/200?first');
  await expect
    .poll(
      async () => {
        await page.goto(served.server.url('/status/200?again', HOST));
        return listPins();
      },
      { timeout: 60_000, interval: 1000 },
    )
    .toMatchObject([{ origin: served.origin, kind: 'avoid-h3', state: 'active' }]);
  return page;
}

test.each(drawShare(['close', 'kill'] as const, 1))(
  'after a %s of the browser its pins are gone, the log says so, and a later load pins again',
  async (end) => {
    await requests.becomes(H2, await loadUntilPinned(), served.server);
    const [made] = await listRuns();
    expect(made).toMatchObject({ trigger: 'rule', state: 'kept', end: null });
    if (end === 'kill') await new Promise((resolve) => setTimeout(resolve, PREFERENCES_MS));

    browser = await browser.restart(end);
    // No page of the extension is open: its worker restores the proxy settings by itself.
    await openPage(`/status/200?after-${end}`);
    const runs = await listRuns();
    expect(runs.find(({ id }) => id === made!.id)).toMatchObject({
      state: 'ended',
      end: { cause: 'closed' },
    });
    const options = await browser.openOwn('options.html');
    await options.getByText('Ended with the browser; the next load decides anew.').first().waitFor();
    await options.close();

    await requests.becomes(H2, await loadUntilPinned(), served.server);
    await expect.poll(() => host.running().length).toBe(1);
  },
);

test('after it was switched off and the browser started again, nothing is pinned', async () => {
  await ask({ type: 'change-autopilot', change: { isOn: false } });
  browser = await browser.restart('close');
  await openPage('/status/200?off');
  expect(await listPins()).toEqual([]);
  const own = await browser.openOwn('devtools.html');
  const settings = await own.evaluate(() => chrome.proxy.settings.get({}));
  expect(settings).toMatchObject({ value: { mode: 'system' } });
});

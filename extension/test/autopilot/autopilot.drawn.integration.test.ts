/** The autopilot in real Chromium, with the real helper, on a server that offers HTTP/3 by Alt-Svc. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { AutopilotRequest } from '../../src/autopilot/autopilot-messages.ts';
import { TestHost } from '../pins/host.ts';
import * as requests from '../pins/pin-requests.ts';
import { H2, H3 } from '../pins/pin-requests.ts';
import { HOST } from '../pins/pinned-host.ts';
import { launchToPin } from '../pins/pinning-chromium.ts';
import type { ExtensionBrowser } from '../support/browser.ts';

let served: requests.PinnedServer;
let host: TestHost;
let browser: ExtensionBrowser;
/** A page of the extension through which the tests send messages. */
let own: Page;
let page: Page;
let pins: requests.PinRequests;

beforeAll(async () => {
  served = await requests.serveHost();
  host = new TestHost();
  ({ browser, own, page } = await launchToPin(served.server.port, host));
  await host.register(browser.profile);
  pins = new requests.PinRequests((request) => browser.ask(own, request), served.origin);
  // The server is on this machine, which the autopilot leaves alone unless the user allows the origin.
  await pins.pin();
  await pins.unpin();
});

afterAll(async () => {
  await browser?.close();
  await vi.waitFor(() => expect(host.running()).toEqual([]), { timeout: 60_000 });
  host?.remove();
  await served?.stop();
});

const becomes = (wanted: string) => requests.becomes(wanted, page, served.server);
const open = (path = '/status/200') => page.goto(served.server.url(path, HOST));

/** Waits until the load that the tab shows is recorded, and handled as far as the autopilot is concerned: the next test erases what it did. */
async function recorded(): Promise<void> {
  const tabId = await browser.tabIdOf(own, page.url());
  const readPhase = async () => {
    const answer = await browser.ask(own, { type: 'latest', tabId, brief: true });
    return answer.ok ? answer.phase : answer.error;
  };
  await expect.poll(readPhase).toBe('recorded');
  await listRuns();
}

async function ask(request: AutopilotRequest) {
  const answer = await browser.ask(own, request);
  if (!answer.ok) throw new Error(answer.error);
  return answer;
}

const listRuns = async () => (await ask({ type: 'autopilot' })).runs;

test('a rule is carried out after a load, and ends at once with the helper', async () => {
  await open();
  await becomes(H3);
  expect(await listRuns()).toEqual([]);

  const options = await browser.openOwn('options.html');
  await options.getByLabel('For the site').fill(HOST);
  await options.getByLabel('Rule', { exact: true }).selectOption('always avoid HTTP/3');
  await options.getByRole('button', { name: 'Add rule' }).click();
  await options.getByText(`${HOST}: always avoid HTTP/3.`).waitFor();
  await open();
  expect(await pins.all()).toEqual([]);
  await options.getByLabel('Let hopwise make pages faster by itself').check();
  await options.getByText('On. Nothing is pinned by it now.').waitFor();

  await open();
  await expect
    .poll(() => pins.all())
    .toMatchObject([{ origin: served.origin, kind: 'avoid-h3', state: 'active' }]);
  await becomes(H2);
  await options.getByText(`${HOST}:${served.server.port} kept off HTTP/3`).waitFor();
  await options.getByText('Your rule for this site. Stays.').waitFor();

  for (const pid of host.running()) process.kill(pid, 'SIGKILL');
  await becomes(H3);
  await options.getByText(/Undone at once, because it failed: .*helper stopped/i).waitFor();
  await options.getByText('On. Nothing is pinned by it now.').waitFor();
  // An hour has to pass before it tries again.
  await open('/status/200?later');
  await recorded();
  expect(await pins.all()).toMatchObject([{ state: 'lifted' }]);
});

test('one click undoes all, and leaves the user’s own pin', async () => {
  const other = `https://b.lab.test:${served.server.port}`;
  const options = await browser.openOwn('options.html');
  // What it did before is forgotten with the page loads.
  await browser.ask(own, { type: 'erase-all' });
  await pins.unpin();
  await browser.ask(own, {
    type: 'pin',
    pins: [{ origin: other, kind: 'avoid-h3', allowLocal: true }],
    minutes: 60,
    persistent: false,
  });
  await open();
  await options.getByText('On. 1 origin pinned now.').waitFor();
  await becomes(H2);
  await options.getByRole('button', { name: 'Undo all' }).click();
  await options.getByText('Everything is undone.').waitFor();
  await becomes(H3);
  expect((await pins.all()).map(({ origin }) => origin)).toEqual([other]);
  expect(await listRuns()).toMatchObject([{ state: 'ended', end: { cause: 'you' } }]);
  await pins.unpin(other);
  const settings = await own.evaluate(() => chrome.proxy.settings.get({}));
  expect(settings).toMatchObject({ value: { mode: 'system' } });
});

test('pins outlive a stop of the worker, and removing the extension leaves nothing', async () => {
  await browser.ask(own, { type: 'erase-all' });
  await open('/status/200?again');
  await becomes(H2);
  await browser.stopWorker(own);
  await expect.poll(() => pins.all()).toMatchObject([{ origin: served.origin, state: 'active' }]);
  // A change of the machine's network, as other tests cause one, ends a run: the next load then begins another.
  expect((await listRuns())[0]).toMatchObject({ state: 'kept', end: null });
  await becomes(H2);
  expect(host.running()).toHaveLength(1);
  // The page closes with its extension.
  await own.evaluate(() => chrome.management.uninstallSelf()).catch(() => undefined);
  await vi.waitFor(() => expect(host.running()).toEqual([]), { timeout: 60_000 });
  await open('/status/200?after');
  await becomes(H3);
});

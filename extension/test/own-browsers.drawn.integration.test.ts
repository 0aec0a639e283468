/** What the built extension does in browsers that start differently, or twice; each test has one of its own. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launch } from './support/browser.ts';
import { readOwnItems } from './support/own-items.ts';
import { RECORDED_IN_MS, recorded } from './support/recorded.ts';
import { BUSY_HOST, type Site, startSite } from './support/site.ts';

const EXTENSION = fileURLToPath(new URL('../dist/chromium', import.meta.url));

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site?.close());

test('no worker starts while a page loads; the page’s report alone has its load recorded', async () => {
  // Where no other page reports meanwhile, and loads are recorded as in the extension as it is installed.
  const light = await launch(EXTENSION, [], [], {}, 'en-US', false);
  onTestFinished(() => light.close());
  const from = { browser: light, own: await light.openOwn('devtools.html') };
  const page = await light.context.newPage();
  await light.stopWorker(from.own);
  const devtools = await light.context.newCDPSession(from.own);
  const running: string[] = [];
  devtools.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
    running.push(...versions.map(({ runningStatus }) => runningStatus).filter((each) => each !== 'stopped'));
  });
  await devtools.send('ServiceWorker.enable');
  running.length = 0;
  await page.goto(`${site.url}/eager.html`, { waitUntil: 'load' });
  expect(running).toEqual([]);
  const { load } = await recorded(page, from);
  expect(running).toContain('running');
  expect(load).toMatchObject({ isDetailed: false, requestedUrl: `${site.url}/eager.html` });
  expect(load.recording.pltMs).toBeGreaterThan(1900);
  expect(load.recording.requests[0]).toMatchObject({ type: 'document', status: 200, remoteIp: null });
});

test.for([
  ['never ends loading', '/endless.html'],
  ['keeps its process busy', '/busy.html'],
] as const)('a frame that %s does not hold back the recording of its page', async ([, path]) => {
  const args = [`--host-resolver-rules=MAP ${BUSY_HOST} 127.0.0.1`];
  const light = await launch(EXTENSION, args, [], {}, 'en-US', false);
  onTestFinished(() => light.close());
  const from = { browser: light, own: await light.openOwn('devtools.html') };
  const page = await light.context.newPage();
  await page.goto(`${site.url}${path}`);
  const { load } = await recorded(page, from);
  expect(load).toMatchObject({ isDetailed: false, recording: { url: `${site.url}${path}` } });
});

test('a page that opens its document anew before it has loaded is recorded with its load time', async () => {
  const light = await launch(EXTENSION, [], [], {}, 'en-US', false);
  onTestFinished(() => light.close());
  const from = { browser: light, own: await light.openOwn('devtools.html') };
  const page = await light.context.newPage();
  await page.goto(`${site.url}/reopened.html`);
  const { load } = await recorded(page, from);
  expect(load.recording.pltMs).toBeGreaterThan(0);
  expect(load.recording.requests.map(({ url }) => url)).toContain(`${site.url}/parsed.png`);
});

test('pages are recorded in detail from a click and the next start of the browser on, until that is taken back', async () => {
  let now = await launch(EXTENSION, [], [], {}, 'en-US', false);
  onTestFinished(() => now.close());
  const heardOf = () => now.context.serviceWorkers()[0]?.evaluate(() => typeof chrome.webRequest);
  const openPopup = async () => {
    const from = { browser: now, own: await now.openOwn('devtools.html') };
    const page = await now.context.newPage();
    await page.goto(`${site.url}/`);
    const { tabId, load } = await recorded(page, from);
    const popup = await now.openOwn(`popup.html?tabId=${tabId}`);
    await popup.getByText('Details').click();
    return { from, page, tabId, load, popup };
  };

  const before = await openPopup();
  expect(await heardOf()).toBe('undefined');
  expect(before.load).toMatchObject({
    isDetailed: false,
    problem: '',
    prediction: { page: { url: `${site.url}/` } },
  });
  await before.popup.getByRole('button', { name: 'Allow detailed recordings' }).click();
  await before.popup.getByText('They begin when the browser starts next').waitFor();
  expect(await before.from.own.evaluate(() => chrome.permissions.getAll())).toMatchObject({
    permissions: expect.arrayContaining(['webRequest']),
  });

  now = await now.restart('close');
  const { from, page, tabId, load, popup } = await openPopup();
  expect(await heardOf()).toBe('object');
  expect(load.isDetailed).toBe(false);
  await popup.getByRole('button', { name: 'Record in detail' }).click();
  const shown = async () => {
    const answer = await now.ask(from.own, { type: 'latest', tabId });
    return answer.ok ? answer.load : null;
  };
  await expect.poll(shown, { timeout: RECORDED_IN_MS }).toMatchObject({ isDetailed: true });
  const detailed = (await shown())!;
  expect(detailed.recording.requests[0]).toMatchObject({
    url: page.url(),
    remoteIp: '127.0.0.1',
    status: 200,
  });

  const options = await now.openOwn('options.html');
  await options.getByLabel('Record every load in detail').check();
  await expect
    .poll(() => options.evaluate(readOwnItems))
    .toMatchObject({ settings: { recordsInDetail: true } });
  await options.getByLabel('Allow detailed recordings').uncheck();
  await options.getByText('Not allowed any more.').waitFor();
  expect(await options.getByLabel('Record every load in detail').isDisabled()).toBe(true);
  const left = await options.evaluate(() => chrome.permissions.getAll());
  expect(left.permissions).not.toContain('webRequest');
  expect(await options.evaluate(readOwnItems)).toMatchObject({ settings: { recordsInDetail: false } });
});

test('a page from the back/forward cache does not show the load of the previous page', async () => {
  const other = await launch(EXTENSION, [], ['--disable-back-forward-cache']);
  onTestFinished(() => other.close());
  const asking = await other.openOwn('devtools.html');
  const page = await other.context.newPage();
  const from = { browser: other, own: asking };
  await page.goto(`${site.url}/kept.html`);
  await recorded(page, from);
  await page.evaluate(() => Object.assign(globalThis, { kept: true }));
  await page.goto(`${site.other}/frame.html`);
  const { tabId } = await recorded(page, from);
  await page.evaluate(() => history.back());
  await page.waitForURL(`${site.url}/kept.html`, { waitUntil: 'commit' });
  expect(await page.evaluate(() => 'kept' in globalThis), 'restored, not loaded').toBe(true);
  await expect
    .poll(() => other.ask(asking, { type: 'latest', tabId }))
    .toMatchObject({ phase: 'failed', problem: expect.stringContaining('without loading it') });
});

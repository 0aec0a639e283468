/** The panel inside real DevTools, which Playwright cannot open: they are reached over the debugging port. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTENSION_ID } from '@hopwise/contract';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ExtensionBrowser, launch } from '../support/browser.ts';
import { readOwnItems } from '../support/own-items.ts';
import { type Site, startSite } from '../support/site.ts';

const packageRoot = fileURLToPath(new URL('../..', import.meta.url));

interface Target {
  url: string;
  title: string;
  webSocketDebuggerUrl: string;
}

let site: Site;
let browser: ExtensionBrowser;

beforeAll(async () => {
  site = await startSite();
  browser = await launch(`${packageRoot}dist/chromium`, [
    '--auto-open-devtools-for-tabs',
    '--remote-debugging-port=0',
  ]);
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function target(isWanted: (target: Target) => boolean): Promise<Target> {
  let found: Target | undefined;
  await expect
    .poll(
      async () => {
        // Chromium writes the file once the port is open.
        const [port] = (await readFile(join(browser.profile, 'DevToolsActivePort'), 'utf8')).split('\n');
        const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as Target[];
        found = targets.find(isWanted);
        return found ? [] : targets.map(({ url }) => url);
      },
      { timeout: 60_000, interval: 200, message: 'targets, none of them the wanted one' },
    )
    .toEqual([]);
  return found!;
}

/** Evaluates over the debugging protocol; Node has had WebSocket since version 22. */
async function evaluate({ webSocketDebuggerUrl }: Target, expression: string): Promise<unknown> {
  const socket = new WebSocket(webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const params = { expression, awaitPromise: true, returnByValue: true };
  const answer = new Promise<string>((resolve, reject) => {
    socket.onmessage = ({ data }) => resolve(String(data));
    socket.onclose = () => reject(new Error('the target has gone'));
  });
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }));
  const { result } = JSON.parse(await answer);
  socket.close();
  if (result.exceptionDetails) throw new Error(result.exceptionDetails.exception.description);
  return result.result.value;
}

test('shows the load of the inspected tab', async () => {
  const page = await browser.context.newPage();
  onTestFinished(() => page.close());
  await page.goto(`${site.url}/slow.html`);
  const devtools = await target(
    ({ url, title }) => url.startsWith('devtools://') && title.includes('/slow.html'),
  );
  await expect
    .poll(
      () =>
        evaluate(
          devtools,
          `import('./ui/legacy/legacy.js').then(async ({ InspectorView }) => {
            const view = InspectorView.InspectorView.instance();
            const id = 'chrome-extension://${EXTENSION_ID}hopwise';
            if (view.hasPanel(id)) await view.showPanel(id);
            return view.hasPanel(id);
          })`,
        ),
      { timeout: 60_000 },
    )
    .toBe(true);
  const panel = await target(({ url }) => url === `chrome-extension://${EXTENSION_ID}/panel.html`);
  await expect.poll(() => evaluate(panel, 'document.body.innerText')).toMatch(/3 requests to 1/);
  expect(await evaluate(panel, 'document.querySelector("#page").textContent')).toBe(page.url());
  // Browsers keep data of frames apart by the page that contains them, which is none of the extension's here.
  expect(await evaluate(panel, `(${readOwnItems})()`)).toMatchObject({ settings: { recordsInDetail: true } });
});

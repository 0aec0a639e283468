/**
 * Renews the stores' screenshots in `docs/store/` from the built extension in Chromium, light and dark. The popup and the panel show
 * the load that the last `npm start` recorded and verified:
 *
 *   npm start && node scripts/store-screenshots.ts
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXTENSION_ID, type Prediction, type Recording, type Verification } from '@hopwise/contract';
import { chromium, type Page } from 'playwright-core';
import { chromiumPath } from './setup/debian.mjs';

const ROOT = join(import.meta.dirname, '..');
const EXTENSION = join(ROOT, 'extension/dist/chromium');
const REPORT = join(ROOT, 'out/report.json');
const TARGET = join(ROOT, 'docs/store');
/** Chrome's store asks for this size. */
const VIEWPORT = { width: 1280, height: 800 };
const POPUP = { width: 384, height: 590 };
const SCHEMES = ['light', 'dark'] as const;
const RECORDED_IN_MS = 20_000;

/** What the pictures need of the report of `npm start`. */
interface Report {
  recording: Recording;
  predictionFromRecording: Prediction;
  prediction: Prediction;
  verification: Verification | null;
}

if (!existsSync(REPORT)) {
  console.error('hopwise: out/report.json is not there: run npm start first');
  process.exit(1);
}
const report = JSON.parse(readFileSync(REPORT, 'utf8')) as Report;
const profile = mkdtempSync(join(tmpdir(), 'hopwise-store-'));
mkdirSync(TARGET, { recursive: true });
const server = createServer((_request, response) =>
  response.setHeader('content-type', 'text/html').end('<p>page'),
);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: chromiumPath() ?? undefined,
  headless: false,
  viewport: VIEWPORT,
  ignoreDefaultArgs: ['--disable-extensions'],
  args: [
    '--headless=new',
    `--disable-extensions-except=${EXTENSION}`,
    `--load-extension=${EXTENSION}`,
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ],
});
try {
  const page = await browser.newPage();
  await page.goto(own('welcome.html'));
  // The page looks for the helper first, and then says how to install it.
  await page.locator('.hw-steps:not([hidden])').waitFor();
  await takePictures(page, 'welcome');
  await page.goto(own('options.html'));
  await page.locator('main > section').first().waitFor();
  await takePictures(page, 'options');

  const tabId = await storeReport(page);
  await page.goto(own(`panel.html?tabId=${tabId}`));
  // The overview is complete once the load has been emulated.
  await page.locator('.hw-critical-step').first().waitFor();
  await takePictures(page, 'panel');
  await page.getByRole('tab', { name: 'Waterfall' }).click();
  await page.locator('.hw-row-name').first().waitFor();
  await takePictures(page, 'waterfall');
  await page.setViewportSize(POPUP);
  await page.goto(own(`popup.html?tabId=${tabId}`));
  await page.locator('.hw-headline').waitFor();
  await takePopupPictures(page);
} finally {
  await browser.close();
  server.close();
  rmSync(profile, { recursive: true, force: true });
}

function own(path: string): string {
  return `chrome-extension://${EXTENSION_ID}/${path}`;
}

async function takePictures(page: Page, name: string): Promise<void> {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    const path = join(TARGET, `${name}-${colorScheme}.png`);
    await page.screenshot({ path });
    console.log(path);
  }
}

/** The popup is smaller than the stores' pictures: it is put in the middle of one. */
async function takePopupPictures(popup: Page): Promise<void> {
  for (const colorScheme of SCHEMES) {
    await popup.emulateMedia({ colorScheme });
    const picture = (await popup.locator('body').screenshot()).toString('base64');
    const frame = await browser.newPage();
    const [back, shade] = colorScheme === 'light' ? ['#dfe5ec', '#0003'] : ['#0c1015', '#000'];
    await frame.setContent(
      `<body style="margin:0;height:100vh;display:grid;place-items:center;background:${back}">` +
        `<img style="width:480px;border-radius:12px;box-shadow:0 12px 40px ${shade}" src="data:image/png;base64,${picture}">`,
    );
    const path = join(TARGET, `popup-${colorScheme}.png`);
    await frame.screenshot({ path });
    await frame.close();
    console.log(path);
  }
}

/** Has the extension record a page, and stores the report's load in its place. @returns the tab's number */
async function storeReport(page: Page): Promise<number> {
  const visited = await browser.newPage();
  await visited.goto(url);
  const { recording, predictionFromRecording, prediction, verification } = report;
  return page.evaluate(
    async ({ visitedUrl, waitMs, change }) => {
      const tab = (await chrome.tabs.query({})).find((each) => each.url === visitedUrl)!;
      const deadline = Date.now() + waitMs;
      let id: number | null = null;
      while (id === null) {
        if (Date.now() > deadline) throw new Error(`${visitedUrl}: nothing is recorded`);
        await new Promise((resolve) => setTimeout(resolve, 200));
        id = (await chrome.runtime.sendMessage({ type: 'latest', tabId: tab.id, brief: true })).loadId;
      }
      const done = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
      const database = await done(indexedDB.open('hopwise'));
      const store = database.transaction('loads', 'readwrite').objectStore('loads');
      await done(store.put({ ...(await done(store.get(id))), ...change }));
      database.close();
      return tab.id!;
    },
    {
      visitedUrl: url,
      waitMs: RECORDED_IN_MS,
      change: {
        recording,
        prediction: predictionFromRecording,
        verification,
        verifiedPrediction: verification && prediction,
      },
    },
  );
}

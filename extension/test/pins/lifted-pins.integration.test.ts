/** Pins that have ended by themselves, in the popup of real Chromium. */
import { fileURLToPath } from 'node:url';
import type { PinState } from '@hopwise/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExtensionBrowser, launch } from '../browser.ts';
import { largePage } from '../large-page.ts';
import { openWithLoad } from '../open-with-load.ts';
import { type Site, startSite } from '../site.ts';

/** The size to which Chromium limits a popup's height, and the popup's own width. */
const POPUP = { width: 380, height: 600 };
const LIFTED: PinState = {
  origin: 'https://page.test',
  kind: 'avoid-h3',
  expiresAtMs: null,
  persistent: false,
  state: 'lifted',
  reason: 'The helper stopped responding; pages load without it.',
};

let site: Site;
let browser: ExtensionBrowser;

beforeAll(async () => {
  site = await startSite();
  browser = await launch(fileURLToPath(new URL('../../dist/chromium', import.meta.url)));
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

test('a lifted pin and its button are in sight without scrolling', async () => {
  const popup = await openWithLoad(browser, `${site.url}/slow.html`, largePage(120), 'popup.html');
  await popup.setViewportSize(POPUP);
  await popup.evaluate((pins) => chrome.storage.session.set({ pins: { pins } }), [LIFTED]);
  // The next worker reads what this one would have stored.
  await browser.stopWorker(popup);
  const dismiss = popup.locator('.hw-pin-lifted button');
  await dismiss.waitFor();
  const { y, height } = (await dismiss.boundingBox())!;
  expect(y + height).toBeLessThan(POPUP.height);
  await dismiss.click();
  await dismiss.waitFor({ state: 'detached' });
});

import type { Recording } from '@hopwise/contract';
import { predict } from '@hopwise/pageload-emulator';
import type { Page } from 'playwright-core';
import { vi } from 'vitest';
import type { ExtensionBrowser } from './browser.ts';
import { putLoad, withSummary } from './put-load.ts';

/** Loads a page, replaces its recording by another one, and opens a page of the extension that shows it. */
export async function openWithLoad(
  browser: ExtensionBrowser,
  url: string,
  recording: Recording,
  path: 'panel.html' | 'popup.html',
): Promise<Page> {
  const own = await browser.openOwn('devtools.html');
  const page = await browser.context.newPage();
  await page.goto(url);
  const tabId = await browser.tabIdOf(own, page.url());
  const load = await vi.waitFor(
    async () => {
      const answer = await browser.ask(own, { type: 'latest', tabId });
      if (!answer.ok || !answer.load) throw new Error('nothing is recorded');
      return answer.load;
    },
    { timeout: 60_000, interval: 200 },
  );
  const prediction = predict(recording, { waterfall: true, language: load.language ?? 'en' });
  const changed = { ...load, recording: { ...recording, url: load.recording.url }, prediction };
  await own.evaluate(putLoad, withSummary(changed));
  const opened = await browser.openOwn(`${path}?tabId=${tabId}`);
  await opened.locator('.hw-headline').waitFor();
  await own.close();
  return opened;
}

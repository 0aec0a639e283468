import type { Page } from 'playwright-core';
import type { StoredLoad } from '../../src/storage/loads.ts';
import type { ExtensionBrowser } from './browser.ts';

/** A page is recorded shortly after its load event, or after the timeout for pages without one. */
export const RECORDED_IN_MS = 80_000;

/**
 * Waits until the page is recorded.
 *
 * @param from the page's browser, and a page of the extension in it
 */
export async function recorded(
  page: Page,
  from: { browser: ExtensionBrowser; own: Page },
): Promise<{ tabId: number; load: StoredLoad }> {
  const tabId = await from.browser.tabIdOf(from.own, page.url());
  const deadline = Date.now() + RECORDED_IN_MS;
  for (;;) {
    const answer = await from.browser.ask(from.own, { type: 'latest', tabId });
    if (!answer.ok) throw new Error(answer.error);
    if (answer.load) return { tabId, load: answer.load };
    if (Date.now() > deadline)
      throw new Error(`no recording of ${page.url()}: ${answer.phase} ${answer.problem}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

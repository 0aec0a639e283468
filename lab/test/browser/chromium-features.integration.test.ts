/** Features that a driven Chromium disables. */
import { readFileSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import { chromiumPath } from '../../src/browser/chromium.ts';
import { DISABLED_FEATURES } from '../../src/browser/chromium-features.ts';
import { CHROMIUM_ARGS } from '../../src/loads/protocol-args.ts';

let browser: Browser;
afterEach(() => browser.close());

it('disables internal pages, besides everything that Playwright disables', async () => {
  browser = await chromium.launch({ executablePath: chromiumPath(), args: CHROMIUM_ARGS });
  await browser.newPage();
  const session = await browser.newBrowserCDPSession();
  const { targetInfos } = await session.send('Target.getTargets', { filter: [{}] });
  expect(targetInfos.filter(({ url }) => url.startsWith('chrome:'))).toEqual([]);
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const { id } = processInfo.find(({ type }) => type === 'browser')!;
  const words = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0');
  const [playwrights, ours, ...others] = words.filter((word) => word.startsWith('--disable-features='));
  expect(others).toEqual([]);
  expect(ours).toBe(DISABLED_FEATURES);
  expect(playwrights).toMatch(/=\w+(,\w+)*$/);
  expect(ours).toContain(playwrights);
});

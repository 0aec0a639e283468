/** Pages that check their environment, with and without the built extension. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { FirefoxBrowser, firefoxPath, makeProfile } from '../firefox/firefox.ts';
import { launch, launchChromium } from '../support/browser.ts';
import { type PageView, readPageViews, startViewSite, type ViewSite } from '../support/page-view.ts';

const built = fileURLToPath(new URL('../../dist/', import.meta.url));
const firefox = firefoxPath();
if (!firefox) console.log('skipped: no Firefox (Debian: firefox-esr, or HOPWISE_FIREFOX)');

let site: ViewSite;
beforeAll(async () => {
  site = await startViewSite();
});
afterAll(() => site?.close());

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'hopwise-view-'));
  try {
    return await use(folder);
  } finally {
    // The browser may still write to it while it exits.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const viewInChromium = (extensionDir: string | null): Promise<PageView[]> =>
  inFolder(async (profile) => {
    const browser = extensionDir ? await launch(extensionDir) : null;
    const context = browser?.context ?? (await launchChromium(profile));
    try {
      const page = await context.newPage();
      await page.goto(site.url);
      return await page.evaluate(readPageViews);
    } finally {
      await (browser ?? context).close();
    }
  });

const viewInFirefox = (extensionDir: string | null): Promise<PageView[]> =>
  inFolder(async (home) => {
    makeProfile(home, { trusted: [] });
    const browser = await FirefoxBrowser.launch(extensionDir, home, {});
    try {
      return await (await browser.open(site.url)).evaluate(readPageViews);
    } finally {
      await browser.close();
    }
  });

async function expectNoDifference(view: (extensionDir: string | null) => Promise<PageView[]>, dir: string) {
  const without = await view(null);
  const withExtension = await view(dir);
  expect(without).toHaveLength(2);
  expect(without[0]!.abort).toBe(true);
  for (const [frame, checks] of without.entries()) {
    for (const [name, found] of Object.entries(checks)) {
      expect.soft(withExtension[frame]![name], `${name} in frame ${frame}`).toEqual(found);
    }
  }
}

const BROWSERS = [
  { name: 'Chromium', view: viewInChromium, folder: 'chromium' },
  { name: 'Firefox', view: viewInFirefox, folder: 'firefox' },
].filter(({ name }) => firefox || name !== 'Firefox');

test.each(drawShare(BROWSERS, 1, ({ name }) => name))(
  'a page in $name finds no difference with the extension',
  ({ view, folder }) => expectNoDifference(view, built + folder),
);

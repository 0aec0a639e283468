/** The replay fixtures beside other fixtures, and Playwright's own `page`. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromiumPath } from '@hopwise/lab/browser/chromium';
import { QUIET_ARGS } from '@hopwise/lab/loads/protocol-args';
import { test as base, mergeExpects, mergeTests } from '@playwright/test';
import { expect as replayExpect, test as replayTest } from '../src/playwright/index.ts';

// The machine's Chromium: Playwright's own need not be installed.
base.use({ launchOptions: { executablePath: chromiumPath(), args: QUIET_ARGS } });

/** Another fixture set, which drives Playwright's own page. */
const otherTest = base.extend<{ title: () => Promise<string>; network: string }, { address: string }>({
  address: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
    async ({}, use) => {
      const server: Server = createServer((_, response) =>
        response.setHeader('content-type', 'text/html').end('<title>On this machine</title>'),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      server.close();
    },
    { scope: 'worker' },
  ],
  title: async ({ page, address }, use) =>
    use(async () => {
      await page.goto(address);
      return page.title();
    }),
  // Its own option of a usual name.
  network: ['home', { option: true }],
});
const otherExpect = base.expect.extend({
  toBeShort: (text: string) => ({ pass: text.length < 20, message: () => text }),
});

const expect = mergeExpects(replayExpect, otherExpect);

for (const [order, test] of [
  ['the replay fixtures first', mergeTests(replayTest, otherTest)],
  ['the replay fixtures last', mergeTests(otherTest, replayTest)],
] as const) {
  test.describe(order, () => {
    test.use({
      replay: { page: 'app', network: 'fast', protocol: 'h2', disturbed: 'keep' },
      network: 'office',
    });

    test('a load beside the other fixtures', async ({ load, title, network }) => {
      const loaded = await load();
      expect(loaded).toUseProtocol('h2');
      expect(loaded.network.name).toBe('fast');
      expect(await title()).toBe('On this machine');
      expect(await title()).toBeShort();
      expect(network).toBe('office');
    });

    test('the page of the replay and the page of Playwright', async ({
      replayPage,
      replayUrl,
      page,
      address,
    }) => {
      await replayPage.goto(replayUrl);
      await page.goto(address);
      expect(await page.title()).toBe('On this machine');
      expect(await replayPage.title()).not.toBe('On this machine');
      // The lab's hosts exist in the lab alone.
      await expect(page.goto(replayUrl)).rejects.toThrow(/ERR_NAME_NOT_RESOLVED|ERR_INTERNET_DISCONNECTED/);
    });
  });
}

replayTest.describe('without a page to replay', () => {
  replayTest.use({ viewport: { width: 700, height: 500 } });

  replayTest('page is as Playwright makes it', async ({ page }) => {
    expect(page.viewportSize()).toEqual({ width: 700, height: 500 });
    await page.setContent('<title>Own</title>');
    await expect(page).toHaveTitle('Own');
  });
});

/** Pages that measure times to find out whether an extension observes them, with the built extension recording in detail. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { measureUntil } from '../../../lab/test/support/attempts.ts';
import { FirefoxBrowser, firefoxPath, makeProfile } from '../firefox/firefox.ts';
import { launch } from '../support/browser.ts';
import {
  type PageTimes,
  REQUESTING_ATTRIBUTES,
  readPageTimes,
  startViewSite,
  type ViewSite,
} from '../support/page-view.ts';

/** What is observed takes 4 to 12 times as long; what is not 0.9 to 1.3 times, and Firefox's clock ticks but once a millisecond. */
const NOTICEABLE = 2;

const built = fileURLToPath(new URL('../../dist/', import.meta.url));
const firefox = firefoxPath();
if (!firefox) console.log('skipped: no Firefox (Debian: firefox-esr, or HOPWISE_FIREFOX)');

let site: ViewSite;
beforeAll(async () => {
  site = await startViewSite();
});
afterAll(() => site?.close());

const listNoticeable = (times: PageTimes) => Object.entries(times).filter(([, ratio]) => ratio >= NOTICEABLE);

async function expectNothingNoticeable(measure: () => Promise<PageTimes>) {
  const times = await measureUntil(measure, (measured) => listNoticeable(measured).length === 0);
  console.log(JSON.stringify(times));
  expect(Object.keys(times)).toEqual(expect.arrayContaining([...REQUESTING_ATTRIBUTES, 'children']));
  expect(listNoticeable(times)).toEqual([]);
}

test('a page in Chromium cannot tell by time which of its changes are observed', async () => {
  const browser = await launch(`${built}chromium`);
  onTestFinished(() => browser.close());
  const page = await browser.context.newPage();
  await expectNothingNoticeable(async () => {
    await page.goto(`${site.url}times.html`);
    return page.evaluate(readPageTimes);
  });
});

test.runIf(firefox)('a page in Firefox cannot tell by time which of its changes are observed', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hopwise-times-'));
  makeProfile(home, { trusted: [] });
  const browser = await FirefoxBrowser.launch(`${built}firefox`, home, {});
  onTestFinished(async () => {
    await browser.close();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  });
  const own = await browser.openOwn('popup.html');
  await browser.ask(own, { type: 'change-settings', change: { recordsInDetail: true } });
  const tab = await browser.open('about:blank');
  await expectNothingNoticeable(async () => {
    await tab.goto(`${site.url}times.html`);
    return tab.evaluate(readPageTimes);
  });
});

/**
 * How soon the popup shows something in real Chromium: from when the browser is asked to open the popup's page until its first contents are
 * painted (First Contentful Paint: the name and the shapes of what is to come), and until the headline is there. By turns with a page of
 * one word, as most of it is the browser's own time, and on a busy machine all of it is longer. `npm run bench -- popup`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EXTENSION_ID, median, quantile } from '@hopwise/contract';
import { integer } from '@hopwise/lab/command/option-types';
import type { Page } from 'playwright-core';
import { findBrowserProcess, launch } from '../../../extension/test/support/browser.ts';
import { largePage } from '../../../extension/test/support/large-page.ts';
import { putLoad, withSummary } from '../../../extension/test/support/put-load.ts';
import { benchCommand, parseOrExit } from '../bench-command.ts';
import { stopWorker } from '../recorder/cold-worker.ts';

const EXTENSION = join(import.meta.dirname, '../../../extension/dist/chromium');
/** Longest time until something shows, after which a click no longer feels answered at once. */
const TARGET_MS = 100;
/** The first openings compile the scripts. */
const WARM_UP = 2;
const SETTLE_MS = 2_000;

const command = benchCommand(
  'popup',
  'Measures how soon the popup shows something, and its headline, with the extension’s worker awake and asleep by turns.',
)
  .option('--openings <n>', 'openings of each', integer(20, 1_000), 30)
  .option('--requests <n>', 'requests of the page', integer(2, 5_000), 100);
const { openings, requests } = parseOrExit(command).opts<{ openings: number; requests: number }>();

/** One opening, in milliseconds since it was asked for. */
interface Opening {
  firstMs: number;
  /** Null for the page of one word. */
  headlineMs: number | null;
}

const STATES = ['of one word', 'worker awake', 'worker asleep'] as const;
type Taken = Record<(typeof STATES)[number], Opening[]>;

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<p>page</p>');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await launch(EXTENSION, [], [], {}, 'en-US', false);
try {
  const page = await browser.context.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const tabId = await storeLoad(page);
  const pid = findBrowserProcess(browser.profile);
  const taken: Taken = { 'of one word': [], 'worker awake': [], 'worker asleep': [] };
  const popup = `chrome-extension://${EXTENSION_ID}/popup.html?tabId=${tabId}`;
  for (let index = -WARM_UP; index < openings; index++) {
    for (const state of STATES) {
      if (state === 'worker asleep') await stopWorker(browser, page, pid);
      const opening = await open(state === 'of one word' ? page.url() : popup);
      if (index >= 0) taken[state].push(opening);
    }
    if (process.stderr.isTTY) process.stderr.write(`\r${index + 1} of ${openings} openings`);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  report(taken);
} finally {
  await browser.close();
  server.close();
}

/** Stores a load of the page with as many requests as are asked for. @returns the page's tab */
async function storeLoad(page: Page): Promise<number> {
  const own = await browser.openOwn('devtools.html');
  const tabId = await browser.tabIdOf(own, page.url());
  for (;;) {
    const answer = await browser.ask(own, { type: 'latest', tabId });
    if (!answer.ok) throw new Error(answer.error);
    if (answer.load) {
      const load = { ...answer.load, recording: largePage(requests), prediction: null };
      await own.evaluate(putLoad, withSummary(load));
      break;
    }
    await delay(100);
  }
  await own.close();
  // The worker keeps which tab has which load a moment later.
  await delay(SETTLE_MS);
  return tabId;
}

async function open(url: string): Promise<Opening> {
  const session = await browser.context.browser()!.newBrowserCDPSession();
  const shown = browser.context.waitForEvent('page');
  const askedMs = Date.now();
  await session.send('Target.createTarget', { url });
  const page = await shown;
  const headline = page.locator('.hw-headline');
  const isPopup = url.startsWith('chrome-extension:');
  await (isPopup ? headline : page.getByText('page')).waitFor();
  const headlineMs = isPopup ? await page.evaluate(() => Date.now()) : null;
  const firstMs = await page.evaluate(async () => {
    // It is reported a moment after the frame is shown.
    while (performance.getEntriesByName('first-contentful-paint').length === 0)
      await new Promise((resolve) => setTimeout(resolve, 10));
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    return performance.timeOrigin + paint!.startTime;
  });
  await page.close();
  await session.detach();
  return { firstMs: firstMs - askedMs, headlineMs: headlineMs && headlineMs - askedMs };
}

function report(taken: Taken): void {
  const write = (times: number[]) =>
    `${median(times).toFixed(0)} ms (90% within ${quantile(times, 0.9).toFixed(0)} ms)`;
  console.log(
    `Popup of a page of ${requests} requests in Chromium ${browser.context.browser()?.version()}, ${openings} openings each`,
  );
  for (const state of STATES) {
    const first = taken[state].map(({ firstMs }) => firstMs);
    const headlines = taken[state].flatMap(({ headlineMs }) => headlineMs ?? []);
    const judged = quantile(first, 0.9) <= TARGET_MS ? 'reached' : 'missed';
    const more =
      headlines.length > 0 ? `, target ${TARGET_MS} ms: ${judged}; headline ${write(headlines)}` : '';
    console.log(`  ${state.padEnd(14)} something ${write(first)}${more}`);
  }
  console.log(`${availableParallelism()} processors, load ${loadavg()[0]!.toFixed(1)} in the last minute`);
}

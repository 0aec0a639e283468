/** What the extension holds and stores in real Chromium does not grow with the number of page loads. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_LOADS } from '../../src/storage/loads.ts';
import { type ExtensionBrowser, launch } from '../support/browser.ts';
import { measureWorkerHeap } from '../support/worker-heap.ts';

const LOADS = 1_000;
/** After as many loads the store has been full for some time, and all that is compiled or cached once is there. */
const WARM_UP = 4 * MAX_LOADS;
const MEASURED_EVERY = 100;
const HOSTS = 20;
const IMAGES = 8;
/** Tabs that load at the same time: a load is stored a second after its end. */
const LANES = 10;
const LOADS_PER_TAB = 10;
/** How much memory and storage may grow from the warm-up to the end. What grew with each load would double or more. */
const MAX_GROWTH = 1.2;

interface Held {
  loads: number;
  /** JavaScript objects of the worker. */
  heapBytes: number;
  /** `storage.session`. */
  areaBytes: number;
  /** The stored loads as JSON. */
  storedBytes: number;
  /** Files of the database, with what it has not yet compacted. */
  fileBytes: number;
}

let server: Server;
let port: number;
let browser: ExtensionBrowser;
/** A page of the extension through which the test asks the worker. */
let own: Page;

beforeAll(async () => {
  const images = Array.from({ length: IMAGES }, (_, index) => `<img src="/${index}.svg?q=${index}">`).join(
    '',
  );
  server = createServer(({ url }, response) => {
    const [type, body] = url!.startsWith('/page')
      ? ['text/html', `<!doctype html><script src="/a.js"></script>${images}`]
      : url!.startsWith('/a.js')
        ? ['text/javascript', 'fetch("/data.json").then((response) => response.text())']
        : ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'];
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  const built = fileURLToPath(new URL('../../dist/chromium', import.meta.url));
  browser = await launch(built, ['--host-resolver-rules=MAP *.test 127.0.0.1']);
  own = await browser.openOwn('devtools.html');
});

afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

/** Loads some pages one after another in a new tab, and shows each load's prediction as the popup does. */
async function browse(numbers: readonly number[]): Promise<void> {
  const page = await browser.context.newPage();
  let last: number | null = null;
  for (const number of numbers) {
    await page.goto(`http://h${number % HOSTS}.test:${port}/page?n=${number}`);
    const tabId = await browser.tabIdOf(own, page.url());
    const loadId = async () => {
      const answer = await browser.ask(own, { type: 'latest', tabId });
      return answer.ok && answer.load ? answer.loadId : last;
    };
    await expect.poll(loadId, { timeout: 60_000, interval: 250 }).not.toBe(last);
    last = await loadId();
  }
  await page.close();
}

/** The lowest of a few: the worker may be busy with a load. */
async function measureLowestHeap(): Promise<number> {
  const bytes: number[] = [];
  for (let reading = 0; reading < 3; reading++) {
    bytes.push(await measureWorkerHeap(browser.context));
    await sleep(500);
  }
  return Math.min(...bytes);
}

const countTabLoads = () =>
  own.evaluate(async () => {
    const keys = Object.keys(await chrome.storage.session.get());
    return keys.filter((key) => key.startsWith('tab-load:')).length;
  });

async function measure(loads: number): Promise<Held> {
  // Changes are saved together, a moment later: all tabs are closed by now.
  await expect.poll(countTabLoads).toBe(0);
  const answer = await browser.ask(own, { type: 'stored-data' });
  if (!answer.ok) throw new Error(answer.error);
  expect(answer.stored.loads).toBe(MAX_LOADS);
  const [areaBytes, fileBytes] = await own.evaluate(async () => [
    await chrome.storage.session.getBytesInUse(),
    ((await navigator.storage.estimate()) as { usageDetails: { indexedDB: number } }).usageDetails.indexedDB,
  ]);
  return {
    loads,
    heapBytes: await measureLowestHeap(),
    areaBytes: areaBytes!,
    storedBytes: answer.stored.bytes,
    fileBytes: fileBytes!,
  };
}

test(`${LOADS} loads leave as much in memory and storage as ${WARM_UP}`, async () => {
  const measured: Held[] = [];
  for (let first = 0; first < LOADS; first += MEASURED_EVERY) {
    const tabs = Array.from({ length: MEASURED_EVERY / LOADS_PER_TAB }, (_, tab) =>
      Array.from({ length: LOADS_PER_TAB }, (_, load) => first + tab * LOADS_PER_TAB + load),
    );
    while (tabs.length > 0) await Promise.all(tabs.splice(0, LANES).map(browse));
    measured.push(await measure(first + MEASURED_EVERY));
    console.log(JSON.stringify(measured.at(-1)));
  }
  const warm = measured.filter(({ loads }) => loads >= WARM_UP);
  const [before, after] = [warm[0]!, warm.at(-1)!];
  for (const kind of ['heapBytes', 'areaBytes', 'storedBytes'] as const) {
    expect.soft(after[kind], kind).toBeLessThan(MAX_GROWTH * before[kind]);
  }
}, 900_000);

/** A worker as people's navigations find it: stopped since the last load, beside what weeks of use have stored. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { ExtensionBrowser } from '../../../extension/test/support/browser.ts';
import { isOfExtension, listProcesses } from './processor-time.ts';

/** As many as are kept: `storage/loads.ts`, `autopilot/runs/run-log.ts` and `storage/network.ts` of the extension have the limits. */
const LOADS = 50;
const RUNS = 200;
const PINS_PER_RUN = 10;
const STORED_IN_MS = 20_000;

/**
 * Fills the extension's stores: with copies of a page's load, query strings, and runs of the autopilot that have ended.
 *
 * @param url of a page that has been loaded
 */
export async function fillStores(browser: ExtensionBrowser, url: string): Promise<void> {
  const own = await browser.openOwn('devtools.html');
  for (let waitedMs = 0; ; waitedMs += 100) {
    const answer = await browser.ask(own, { type: 'latest', url, brief: true });
    if (answer.ok && answer.loadId !== null) break;
    if (waitedMs >= STORED_IN_MS) throw new Error(`the load of ${url} was not stored`);
    await delay(100);
  }
  const runs = Array.from({ length: RUNS }, (_, index) => ({
    id: `run-${index}`,
    madeAtMs: Date.now() - 3_600_000,
    pageUrl: `https://page${index}.example/`,
    trigger: 'network',
    pins: Array.from({ length: PINS_PER_RUN }, (_, pin) => ({
      origin: `https://o${pin}.page${index}.example`,
      kind: 'avoid-h3',
    })),
    predicted: null,
    beforeMs: [],
    afterMs: [],
    networkKey: null,
    lastLoadId: 1,
    state: 'ended',
    end: { atMs: Date.now(), cause: 'network', reason: '' },
  }));
  await own.evaluate(
    async ({ runs, copies }) => {
      const settle = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
      const database = await settle(indexedDB.open('hopwise'));
      const transaction = database.transaction(['loads', 'summaries'], 'readwrite');
      const [store, summaries] = [transaction.objectStore('loads'), transaction.objectStore('summaries')];
      const [load] = await settle(store.getAll());
      const [summary] = await settle(summaries.getAll());
      for (let copy = 0; copy < copies; copy++) {
        const { id: _, ...fields } = structuredClone(load);
        fields.requestedUrl = fields.recording.url = `https://page${copy}.example/`;
        const id = Number(await settle(store.add(fields)));
        const { requestedUrl, recording } = fields;
        const url = { requestedUrl, recording: { ...summary.recording, url: recording.url } };
        await settle(summaries.put({ ...summary, ...url, id }));
      }
      const items = database.transaction('items', 'readwrite').objectStore('items');
      await settle(items.put(runs, 'autopilot-log'));
      database.close();
    },
    { runs, copies: LOADS - 1 },
  );
  await own.close();
}

const ENDS_IN_MS = 10_000;

/**
 * Stops the worker, and waits until its process has ended.
 *
 * @param page any page but the extension's own, of which none may be open
 * @param pid of the browser
 */
export async function stopWorker(browser: ExtensionBrowser, page: Page, pid: number): Promise<void> {
  await browser.stopWorker(page);
  for (let waitedMs = 0; listProcesses(pid).some(isOfExtension); waitedMs += 50) {
    if (waitedMs >= ENDS_IN_MS) throw new Error('the process of the extension did not end');
    await delay(50);
  }
}

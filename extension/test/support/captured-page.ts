/**
 * What a page that has captured its process tries as the extension's content script. These functions run in the content script's
 * world, from their source text: they can use nothing from outside.
 */

/** What a content script finds of the extension's data, by the way it tries. */
export interface Reached {
  local: string[];
  session: string;
  database: string[];
}

/** Reads all that it can, and changes settings in every place, as the extension itself does and as far as it is let. */
export async function attackStorage(): Promise<Reached> {
  const done = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const forged = { autopilot: { isOn: true }, settings: { checksNetworks: true }, language: 'de' };
  const local = Object.keys(await chrome.storage.local.get(null));
  await chrome.storage.local.set(forged);
  const readSession = async () => Object.keys(await chrome.storage.session.get(null));
  const session = await readSession().then(String, () => 'refused');

  const opening = indexedDB.open('hopwise', 99);
  opening.onupgradeneeded = () => {
    if (!opening.result.objectStoreNames.contains('items')) opening.result.createObjectStore('items');
  };
  const database = await done(opening);
  const store = database.transaction('items', 'readwrite').objectStore('items');
  const found = (await done(store.getAllKeys())).map(String);
  for (const [key, value] of Object.entries(forged)) await done(store.put(value, key));
  database.close();

  const channel = new BroadcastChannel('hopwise-items');
  const heard: unknown[] = [];
  channel.onmessage = ({ data }) => heard.push(data);
  channel.postMessage(Object.keys(forged));
  Object.assign(globalThis, { heard });
  return { local, session, database: found };
}

/** What has been told on the channel of the extension's pages since the attack, until a message of the page's own. */
export async function listHeard(): Promise<unknown[]> {
  const { heard } = globalThis as unknown as { heard: unknown[] };
  const own = new BroadcastChannel('hopwise-items');
  own.postMessage('of the page');
  while (!heard.includes('of the page')) await new Promise((resolve) => setTimeout(resolve, 10));
  own.close();
  return heard;
}

/** Reports a load of another site than the tab shows, before the page's own report. */
export async function reportAnotherSite(): Promise<void> {
  const entry = performance.getEntriesByType('navigation')[0]!.toJSON();
  const {
    name,
    initiatorType,
    nextHopProtocol,
    deliveryType = '',
    renderBlockingStatus = '',
    ...times
  } = entry;
  for (const [key, value] of Object.entries(times)) if (typeof value !== 'number') delete times[key];
  const url = 'https://bank.example/';
  const words = { initiatorType, nextHopProtocol, deliveryType, renderBlockingStatus };
  const navigation = { ...times, ...words, name: url, loadEventEnd: 900 };
  const timings = {
    url,
    isTop: true,
    timeOrigin: performance.timeOrigin,
    navigation,
    firstContentfulPaint: null,
    largestContentfulPaint: null,
    largestContentfulPaintUrl: null,
    resources: [],
    scriptRuns: [],
  };
  const facts = { loaded: true, leftMs: null, hasFrames: false, wasHidden: false };
  await chrome.runtime.sendMessage({ type: 'page-settled', ...facts, timings });
}

/** Reports the page's own load as that of many documents, which began at other times. @returns whether each was handled */
export async function reportManyTimes(): Promise<unknown[]> {
  const navigation = performance.getEntriesByType('navigation')[0]!.toJSON();
  const { deliveryType = '', renderBlockingStatus = '', responseStatus = 200, ...entry } = navigation;
  for (const [key, value] of Object.entries(entry))
    if (typeof value !== 'number' && typeof value !== 'string') delete entry[key];
  const timings = (timeOrigin: number) => ({
    url: location.href,
    isTop: true,
    timeOrigin,
    navigation: { ...entry, deliveryType, renderBlockingStatus, responseStatus, loadEventEnd: 900 },
    firstContentfulPaint: null,
    largestContentfulPaint: null,
    largestContentfulPaintUrl: null,
    resources: [],
    scriptRuns: [],
  });
  const answers: unknown[] = [];
  for (let time = 0; time < 5; time++)
    answers.push(
      await chrome.runtime.sendMessage({
        type: 'page-settled',
        loaded: true,
        leftMs: null,
        hasFrames: false,
        wasHidden: false,
        timings: timings(performance.timeOrigin + 1000 * time),
      }),
    );
  return answers;
}

/** The function for a page of the extension that runs one of the others in a tab, loaded or not. */
export function asContentScript<R>(attack: () => Promise<R>): (tabId: number) => Promise<R> {
  const run = `chrome.scripting.executeScript({ target: { tabId }, func: ${attack}, injectImmediately: true })`;
  return new Function('tabId', `return ${run}.then(([{ result }]) => result)`) as (
    tabId: number,
  ) => Promise<R>;
}

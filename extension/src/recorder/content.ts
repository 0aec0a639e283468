/**
 * Content script of every frame, in the extension's isolated world: collects what the browser measured and
 * sends it when the worker requests it. The top frame reports when the page has settled. It changes nothing that
 * the page can see: nothing in the page's own world, no attribute, no event.
 */

import { MAX_ENTRIES, MAX_TEXT_CHARS } from './limits.ts';
import type {
  Collect,
  FrameResource,
  FrameTimings,
  PageSettled,
  PageShown,
  RecordingCheck,
  ResourceEntry,
} from './page-timings.ts';
import { findMaker, limitMakers } from './request-maker.ts';
import { ScriptObserver } from './script-observer.ts';

/** Wait after the load event: late paints, and requests that start right after it, still belong to the load. */
const SETTLE_MS = 1000;

/** A page that has not fired its load event by now is recorded as it is. */
const LOAD_TIMEOUT_MS = 30_000;

const resources: PerformanceResourceTiming[] = [];
const resourceKeys = new Set<string>();
const scripts = new ScriptObserver();
let largestContentfulPaint: number | null = null;
let largestContentfulPaintUrl: string | null = null;
let isExcluded = false;

// An observer receives every entry, regardless of the size of the page's own buffer and of the page clearing it.
const resourceObserver = new PerformanceObserver((list) => addResources(list.getEntries()));
resourceObserver.observe({ type: 'resource', buffered: true });
const paintObserver = new PerformanceObserver((list) => updateLargestPaint(list.getEntries()));
paintObserver.observe({ type: 'largest-contentful-paint', buffered: true });

/** Whether the user has not excluded the site. The observers above must not wait for it: the page's first requests come before. */
const mayRecord: Promise<boolean> = chrome.runtime
  .sendMessage({ type: 'check-recording' } satisfies RecordingCheck)
  .then((answer) => answer === true)
  .catch(() => false);
void mayRecord.then((may) => {
  if (!may) discardAll();
});

chrome.runtime.onMessage.addListener((message: Collect, _sender, answer) => {
  if (message?.type !== 'collect' || isExcluded) return;
  addResources(resourceObserver.takeRecords());
  updateLargestPaint(paintObserver.takeRecords());
  answer(readFrameTimings());
  if (message.final) stopObserving();
});

const prerendering = (document as { prerendering?: boolean }).prerendering === true;

if (window.top === window) {
  addEventListener('pageshow', (event) => {
    if (event.persisted) void send({ type: 'page-shown' });
  });
  document.addEventListener('prerenderingchange', () => void send({ type: 'page-shown' }), { once: true });
}

if (window.top === window && !prerendering) {
  const timer = setTimeout(() => reportSettled(false), LOAD_TIMEOUT_MS);
  const onLoad = (event: Event) => {
    // Ignores synthetic events, which some pages dispatch for scripts that wait for the load event.
    if (!event.isTrusted) return;
    removeEventListener('load', onLoad);
    clearTimeout(timer);
    setTimeout(() => reportSettled(true), SETTLE_MS);
  };
  addEventListener('load', onLoad);
}

function reportSettled(loaded: boolean) {
  void send({ type: 'page-settled', loaded });
}

async function send(message: PageSettled | PageShown) {
  if (!(await mayRecord)) return;
  // Rejects when the extension was updated or removed while the page was open: there is no receiver any more.
  chrome.runtime.sendMessage(message).catch(stopObserving);
}

/** Stops observing an excluded page and forgets what was observed before the check was answered. */
function discardAll() {
  isExcluded = true;
  stopObserving();
  resources.length = 0;
  resourceKeys.clear();
  scripts.clear();
  largestContentfulPaint = null;
  largestContentfulPaintUrl = null;
}

function stopObserving() {
  resourceObserver.disconnect();
  paintObserver.disconnect();
  scripts.disconnect();
}

function addResources(entries: PerformanceEntryList) {
  for (const entry of entries as PerformanceResourceTiming[]) {
    // An entry made while the observer registers may come from the buffer and as a new one.
    const key = `${entry.startTime} ${entry.responseEnd} ${entry.name}`;
    if (resources.length >= MAX_ENTRIES || resourceKeys.has(key)) continue;
    resourceKeys.add(key);
    resources.push(entry);
  }
}

function updateLargestPaint(entries: PerformanceEntryList) {
  const last = entries.at(-1);
  if (!last) return;
  largestContentfulPaint = last.startTime;
  const { url } = last as LargestContentfulPaint;
  largestContentfulPaintUrl = /^https?:/.test(url) ? url.slice(0, MAX_TEXT_CHARS) : null;
}

function readFrameTimings(): FrameTimings {
  const navigation = performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined;
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return {
    url: location.href.slice(0, MAX_TEXT_CHARS),
    isTop: window.top === window,
    timeOrigin: performance.timeOrigin,
    navigation: navigation
      ? {
          ...toEntry(navigation),
          domInteractive: navigation.domInteractive,
          domContentLoadedEventEnd: navigation.domContentLoadedEventEnd,
          loadEventEnd: navigation.loadEventEnd,
        }
      : null,
    firstContentfulPaint: paint?.startTime ?? null,
    largestContentfulPaint,
    largestContentfulPaintUrl,
    resources: limitMakers(resources.filter((entry) => /^https?:/.test(entry.name)).map(toFrameResource)),
    scriptRuns: scripts.runs,
  };
}

function toFrameResource(entry: PerformanceResourceTiming): FrameResource {
  return { ...toEntry(entry), maker: findMaker(entry, scripts.elements) };
}

function toEntry(entry: PerformanceResourceTiming): ResourceEntry {
  return {
    name: entry.name.slice(0, MAX_TEXT_CHARS),
    initiatorType: entry.initiatorType,
    startTime: entry.startTime,
    fetchStart: entry.fetchStart,
    domainLookupStart: entry.domainLookupStart,
    domainLookupEnd: entry.domainLookupEnd,
    connectStart: entry.connectStart,
    secureConnectionStart: entry.secureConnectionStart,
    connectEnd: entry.connectEnd,
    requestStart: entry.requestStart,
    responseStart: entry.responseStart,
    responseEnd: entry.responseEnd,
    transferSize: entry.transferSize,
    encodedBodySize: entry.encodedBodySize,
    decodedBodySize: entry.decodedBodySize,
    nextHopProtocol: entry.nextHopProtocol,
    renderBlockingStatus: (entry as { renderBlockingStatus?: string }).renderBlockingStatus ?? '',
    deliveryType: (entry as { deliveryType?: string }).deliveryType ?? '',
  };
}

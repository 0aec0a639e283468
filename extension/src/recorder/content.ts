/**
 * Content script of every frame, in the extension's own world: keeps what the browser measured and
 * hands it over when the worker asks. The top frame says when the page has settled.
 */
import { AskList } from './script-requests.ts';
import { CHANNEL_EVENT, STOP_SUFFIX } from './hook-channel.ts';
import { MAX_ENTRIES, MAX_TEXT } from './limits.ts';
import type { Collect, FrameTimings, PageSettled, PageShown, ResourceEntry } from './page-timings.ts';

/** After the load event: late paints and requests that start right behind it still belong to the load. */
const SETTLE_MS = 1000;

/** A page that has not fired its load event by now is recorded as it stands. */
const LOAD_CAP_MS = 30_000;

const resources: PerformanceResourceTiming[] = [];
const asks = new AskList();
let largestContentfulPaint: number | null = null;
let largestContentfulPaintUrl: string | null = null;
let hooked = false;

// An observer gets every entry, whatever the size of the page's own buffer and whether the page clears it.
const resourceObserver = new PerformanceObserver((list) => keepResources(list.getEntries()));
resourceObserver.observe({ type: 'resource', buffered: true });
const paintObserver = new PerformanceObserver((list) => keepPaints(list.getEntries()));
paintObserver.observe({ type: 'largest-contentful-paint', buffered: true });

const channel = [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16)).join('-');
const onAsk = (event: Event) => {
  hooked = true;
  asks.add((event as CustomEvent).detail, document.baseURI, performance.now());
  if (asks.full) stopHook();
};
document.addEventListener(channel, onAsk);
document.dispatchEvent(new CustomEvent(CHANNEL_EVENT, { detail: channel }));

chrome.runtime.onMessage.addListener((message: Collect, _sender, answer) => {
  if (message?.type !== 'collect') return;
  keepResources(resourceObserver.takeRecords());
  keepPaints(paintObserver.takeRecords());
  answer(frameTimings());
  if (message.final) stop();
});

const prerendering = (document as { prerendering?: boolean }).prerendering === true;

if (window.top === window) {
  addEventListener('pageshow', (event) => {
    if (event.persisted) say({ type: 'page-shown' });
  });
  document.addEventListener('prerenderingchange', () => say({ type: 'page-shown' }), { once: true });
}

if (window.top === window && !prerendering) {
  const cap = setTimeout(() => settled(false), LOAD_CAP_MS);
  const onLoad = (event: Event) => {
    // Pages send themselves such events too, for scripts that wait for one.
    if (!event.isTrusted) return;
    removeEventListener('load', onLoad);
    clearTimeout(cap);
    setTimeout(() => settled(true), SETTLE_MS);
  };
  addEventListener('load', onLoad);
}

function settled(loaded: boolean) {
  say({ type: 'page-settled', loaded });
}

function say(message: PageSettled | PageShown) {
  // Rejects when the extension was updated or removed under an open page: nobody is left to tell.
  chrome.runtime.sendMessage(message).catch(stop);
}

function stop() {
  resourceObserver.disconnect();
  paintObserver.disconnect();
  stopHook();
}

function stopHook() {
  document.dispatchEvent(new CustomEvent(channel + STOP_SUFFIX));
  document.removeEventListener(channel, onAsk);
}

function keepResources(entries: PerformanceEntryList) {
  const room = MAX_ENTRIES - resources.length;
  resources.push(...(entries as PerformanceResourceTiming[]).slice(0, room));
}

function keepPaints(entries: PerformanceEntryList) {
  const last = entries.at(-1);
  if (!last) return;
  largestContentfulPaint = last.startTime;
  const { url } = last as LargestContentfulPaint;
  largestContentfulPaintUrl = /^https?:/.test(url) ? url.slice(0, MAX_TEXT) : null;
}

function frameTimings(): FrameTimings {
  const navigation = performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined;
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return {
    url: location.href.slice(0, MAX_TEXT),
    timeOrigin: performance.timeOrigin,
    navigation: navigation
      ? {
          ...entryOf(navigation),
          domInteractive: navigation.domInteractive,
          domContentLoadedEventEnd: navigation.domContentLoadedEventEnd,
          loadEventEnd: navigation.loadEventEnd,
        }
      : null,
    firstContentfulPaint: paint?.startTime ?? null,
    largestContentfulPaint,
    largestContentfulPaintUrl,
    resources: resources.filter((entry) => /^https?:/.test(entry.name)).map(entryOf),
    asks: asks.asks,
    hooked,
  };
}

function entryOf(entry: PerformanceResourceTiming): ResourceEntry {
  return {
    name: entry.name.slice(0, MAX_TEXT),
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

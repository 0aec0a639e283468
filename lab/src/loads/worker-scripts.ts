/**
 * Adds answers that the DevTools protocol does not report, from Resource Timing: those for a dedicated worker's own script,
 * which the browser's process requests (Chromium 156).
 */
import type { Protocol as Cdp } from 'devtools-protocol';
import type { Page } from 'playwright-core';
import type { Hop } from './cdp-observer.ts';

/** Fields of `PerformanceResourceTiming`, milliseconds after the time origin of its frame. */
export interface ResourceTiming {
  name: string;
  fetchStart: number;
  domainLookupStart: number;
  domainLookupEnd: number;
  connectStart: number;
  secureConnectionStart: number;
  connectEnd: number;
  requestStart: number;
  responseStart: number;
  responseEnd: number;
  nextHopProtocol: string;
  responseStatus: number;
  transferSize: number;
  encodedBodySize: number;
}

/**
 * Completes the hops of worker scripts without an answer. The worker reports the end of its script by another clock, and only
 * to a listener that was attached before the worker started; so the end is also set here.
 *
 * @param navigationStart monotonic milliseconds
 * @param timeOrigin Unix time of navigationStart, milliseconds
 */
export async function completeWorkerScripts(
  page: Page,
  hops: readonly Hop[],
  navigationStart: number,
  timeOrigin: number,
): Promise<void> {
  const untold = hops.filter(
    ({ type, response, failure }) => type === 'Script' && response === null && failure === null,
  );
  if (untold.length === 0) return;
  const urls = untold.map(({ url }) => url);
  const frames = await Promise.all(
    page.frames().map((frame) =>
      // A frame that is gone or crashed reports nothing.
      frame.evaluate(readTimings, urls).catch(() => ({ timeOrigin, entries: [] as ResourceTiming[] })),
    ),
  );
  for (const frame of frames) {
    const frameStart = navigationStart + frame.timeOrigin - timeOrigin;
    for (const entry of frame.entries) {
      const hop = untold.find((one) => one.response === null && one.url === entry.name);
      if (!hop || entry.responseStatus === 0) continue;
      hop.response = responseOf(entry, frameStart);
      hop.endedAt = frameStart + entry.responseEnd;
      hop.encodedBytes ??= entry.transferSize;
    }
  }
}

/** @param frameStart monotonic milliseconds */
export function responseOf(entry: ResourceTiming, frameStart: number): Cdp.Network.Response {
  const at = (time: number) => time - entry.fetchStart;
  /** A phase that did not take place has end = start here, and is −1 in the DevTools protocol. */
  const phase = (start: number, end: number): [number, number] =>
    end > start ? [at(start), at(end)] : [-1, -1];
  const [dnsStart, dnsEnd] = phase(entry.domainLookupStart, entry.domainLookupEnd);
  const [connectStart, connectEnd] = phase(entry.connectStart, entry.connectEnd);
  const [sslStart, sslEnd] =
    entry.secureConnectionStart > 0 && connectStart >= 0
      ? phase(entry.secureConnectionStart, entry.connectEnd)
      : [-1, -1];
  // Chromium may stamp the start after the end, as the worker's process does not see it by itself.
  const answered = at(Math.max(entry.requestStart, Math.min(entry.responseStart, entry.responseEnd)));
  return {
    url: entry.name,
    status: entry.responseStatus,
    statusText: '',
    headers: {},
    mimeType: '',
    charset: '',
    connectionReused: connectStart < 0,
    connectionId: 0,
    fromDiskCache: entry.transferSize === 0 && entry.encodedBodySize > 0,
    encodedDataLength: 0,
    protocol: entry.nextHopProtocol,
    securityState: 'unknown',
    timing: {
      requestTime: (frameStart + entry.fetchStart) / 1000,
      proxyStart: -1,
      proxyEnd: -1,
      dnsStart,
      dnsEnd,
      connectStart,
      connectEnd,
      sslStart,
      sslEnd,
      workerStart: -1,
      workerReady: -1,
      workerFetchStart: -1,
      workerRespondWithSettled: -1,
      sendStart: at(entry.requestStart),
      sendEnd: at(entry.requestStart),
      pushStart: 0,
      pushEnd: 0,
      receiveHeadersStart: answered,
      receiveHeadersEnd: answered,
    },
  };
}

/** Runs in a frame. */
function readTimings(urls: string[]): { timeOrigin: number; entries: ResourceTiming[] } {
  const entries = performance.getEntriesByType('resource').filter(({ name }) => urls.includes(name));
  return {
    timeOrigin: performance.timeOrigin,
    entries: entries.map((entry) => entry.toJSON() as ResourceTiming),
  };
}

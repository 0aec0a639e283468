/** Listens to the browser's requests and keeps what it says of each (`ObservedRequest`). */

import { MAX_TEXT } from './limits.ts';
import { type ObservedRequest, offersH3, resourceType } from './observed-request.ts';

type Details = chrome.webRequest.WebRequestDetails;
type Header = chrome.webRequest.HttpHeader;

/** What the worker does with requests; all of it in the order of the browser's events. */
export interface RequestSink {
  /** A request of a tab begins; it is a page load of its own when its type is `document`. */
  begin(tabId: number, request: ObservedRequest): void;
  /** Changes the newest hop of a request that has begun; nothing happens when it is not known. */
  update(tabId: number, requestId: string, change: Partial<ObservedRequest>): void;
}

const WANTED = { urls: ['http://*/*', 'https://*/*'] };

/** Errors of requests that say that the way to the network is another one now, or gone. */
const NETWORK_CHANGED = ['net::ERR_NETWORK_CHANGED', 'net::ERR_INTERNET_DISCONNECTED', 'NS_ERROR_OFFLINE'];

/** Must run in the worker's first turn, or the browser does not wake it for these events. */
export function listenToRequests(sink: RequestSink, onNetworkChanged: () => void): void {
  const { webRequest } = chrome;
  // Firefox knows no extraHeaders and shows Referer without it.
  const extra = 'EXTRA_HEADERS' in (webRequest.OnSendHeadersOptions ?? {}) ? ['extraHeaders' as const] : [];

  webRequest.onBeforeRequest.addListener((details) => {
    if (ofAPage(details)) sink.begin(details.tabId, observed(details));
    return undefined;
  }, WANTED);

  webRequest.onSendHeaders.addListener(
    (details) => {
      if (!ofAPage(details)) return;
      const referrer = header(details.requestHeaders, 'referer') ?? '';
      sink.update(details.tabId, details.requestId, {
        sent: true,
        referrer: referrer !== '' && referrer.length <= MAX_TEXT ? referrer : null,
      });
    },
    WANTED,
    ['requestHeaders', ...extra],
  );

  webRequest.onHeadersReceived.addListener(
    (details) => {
      if (!ofAPage(details)) return undefined;
      const length = Number(header(details.responseHeaders, 'content-length') ?? Number.NaN);
      sink.update(details.tabId, details.requestId, {
        headersAt: details.timeStamp,
        status: details.statusCode,
        offersH3: offersH3(header(details.responseHeaders, 'alt-svc') ?? ''),
        contentLength: Number.isSafeInteger(length) && length >= 0 ? length : null,
      });
      return undefined;
    },
    WANTED,
    ['responseHeaders'],
  );

  webRequest.onBeforeRedirect.addListener((details) => {
    if (!ofAPage(details)) return;
    sink.update(details.tabId, details.requestId, {
      endedAt: details.timeStamp,
      status: details.statusCode,
      remoteIp: details.ip ?? null,
      fromCache: details.fromCache,
      redirected: true,
      internal: details.statusLine.includes('Internal Redirect'),
    });
  }, WANTED);

  webRequest.onCompleted.addListener((details) => {
    if (!ofAPage(details)) return;
    sink.update(details.tabId, details.requestId, {
      endedAt: details.timeStamp,
      status: details.statusCode,
      remoteIp: details.ip ?? null,
      fromCache: details.fromCache,
    });
  }, WANTED);

  webRequest.onErrorOccurred.addListener((details) => {
    if (NETWORK_CHANGED.includes(details.error)) onNetworkChanged();
    if (!ofAPage(details)) return;
    sink.update(details.tabId, details.requestId, {
      endedAt: details.timeStamp,
      status: 0,
      // Chromium first looks for fonts in the cache alone, then asks again.
      ...(details.error === 'net::ERR_CACHE_MISS' ? { sent: false } : {}),
    });
  }, WANTED);
}

/** Not a prerendered page's, not a browser's own request, not a socket that stays open. */
function ofAPage(details: Pick<Details, 'tabId' | 'type' | 'url'> & { documentLifecycle?: string }): boolean {
  return (
    details.tabId >= 0 &&
    details.documentLifecycle !== 'prerender' &&
    details.type !== 'websocket' &&
    (details.type as string) !== 'webtransport' &&
    details.url.length <= MAX_TEXT
  );
}

function observed(details: chrome.webRequest.OnBeforeRequestDetails): ObservedRequest {
  return {
    requestId: details.requestId,
    url: details.url,
    method: details.method.slice(0, 32),
    type: resourceType(details.type),
    frameId: details.frameId,
    parentFrameId: details.parentFrameId,
    documentId: details.documentId ?? null,
    parentDocumentId: details.parentDocumentId ?? null,
    startedAt: details.timeStamp,
    sent: false,
    headersAt: null,
    endedAt: null,
    status: 0,
    remoteIp: null,
    fromCache: false,
    referrer: null,
    offersH3: null,
    contentLength: null,
    redirected: false,
    internal: false,
  };
}

function header(headers: Header[] | undefined, name: string): string | undefined {
  return headers?.find((one) => one.name.toLowerCase() === name)?.value;
}

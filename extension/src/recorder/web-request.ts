/** Listens to the browser's requests and describes each as an `ObservedRequest`. */
import { offersH3 } from '@hopwise/contract';
import { failedProtocol } from '@hopwise/pageload-emulator';
import { MAX_TEXT_CHARS } from './limits.ts';
import { hasCredentials, type ObservedRequest, resourceType } from './observed-request.ts';

type Details = chrome.webRequest.WebRequestDetails;
type Header = chrome.webRequest.HttpHeader;

/** Receives requests, in the order of the browser's events. */
export interface RequestSink {
  /**
   * A request of a tab starts. Type `document` starts a new page load.
   *
   * @param documentUrl URL (Firefox) or origin (Chromium) of the document that made it; null when the browser reports none
   */
  addRequest(tabId: number, request: ObservedRequest, documentUrl: string | null): void;
  /** Changes the newest hop of a request; has no effect for an unknown one. */
  updateRequest(tabId: number, requestId: string, change: Partial<ObservedRequest>): void;
  /** A request of a tab failed in the network, whether it was added or not. */
  addFailure(tabId: number, url: string): void;
}

const URLS = ['http://*/*', 'https://*/*'];

/** RFC 9110, section 15.5.8. */
const PROXY_AUTHENTICATION = 407;
/** Request errors which show that the browser changed networks, went offline, or that the machine was put to sleep. */
const NETWORK_CHANGED = [
  'net::ERR_NETWORK_CHANGED',
  'net::ERR_INTERNET_DISCONNECTED',
  'net::ERR_NETWORK_IO_SUSPENDED',
  'NS_ERROR_OFFLINE',
];

/** Request errors that say nothing about the network: cancelled, blocked, or only looked up in the cache. */
const NOT_FAILED =
  /ERR_ABORTED|ERR_BLOCKED|ERR_CACHE_MISS|NS_BINDING_ABORTED|NS_ERROR_(ABORT|CONTENT_BLOCKED|BLOCKED)/;

/**
 * Listens to the navigations of all tabs, for which the browser then starts the worker. Requires `canListen`.
 *
 * @param onHintsAsked called with the URL of a page, and the `Accept-CH` of its answer
 * @returns ends it
 */
export function listenToNavigations(
  sink: RequestSink,
  onNetworkChanged: () => void,
  onHintsAsked: (url: string, acceptCh: string) => void,
): () => void {
  return addListeners({ urls: URLS, types: ['main_frame'] }, sink, { onNetworkChanged, onHintsAsked });
}

/**
 * Listens to the failures of all requests of all tabs, where the worker runs in any case: it would be started for each request that an
 * ad blocker blocks.
 *
 * @returns ends it
 */
export function listenToFailures(sink: RequestSink, onNetworkChanged: () => void): () => void {
  if (!canListen()) return () => undefined;
  const { onErrorOccurred } = chrome.webRequest;
  const onFailure = (details: chrome.webRequest.OnErrorOccurredDetails): void => {
    if (NETWORK_CHANGED.includes(details.error)) onNetworkChanged();
    if (isPageRequest(details) && !NOT_FAILED.test(details.error))
      sink.addFailure(details.tabId, details.url);
  };
  onErrorOccurred.addListener(onFailure, { urls: URLS });
  return () => onErrorOccurred.removeListener(onFailure);
}

/**
 * Listens to every request of a tab, or of all tabs. The browser then passes each request and its headers through its own process to
 * the worker, which slows pages down (bench/docs/product.md, the arm `detail`). Requires `canListen`.
 *
 * @returns ends it
 */
export function listenToTab(tabId: number | 'all', sink: RequestSink): () => void {
  const filter = tabId === 'all' ? { urls: URLS } : { urls: URLS, tabId };
  const removeListeners = addListeners(filter, sink);
  const { webRequest } = chrome;
  // Firefox has no extraHeaders and includes Referer without it.
  const extra = 'EXTRA_HEADERS' in (webRequest.OnSendHeadersOptions ?? {}) ? ['extraHeaders' as const] : [];
  const onSendHeaders = (details: chrome.webRequest.OnSendHeadersDetails): void => {
    if (!isPageRequest(details)) return;
    const referrer = header(details.requestHeaders, 'referer') ?? '';
    sink.updateRequest(details.tabId, details.requestId, {
      sent: true,
      referrer: referrer !== '' && referrer.length <= MAX_TEXT_CHARS ? referrer : null,
      credentials: hasCredentials(details.url, {
        origin: header(details.requestHeaders, 'origin'),
        cookie: header(details.requestHeaders, 'cookie'),
      }),
    });
  };
  webRequest.onSendHeaders.addListener(onSendHeaders, filter, ['requestHeaders', ...extra]);
  return () => {
    removeListeners();
    webRequest.onSendHeaders.removeListener(onSendHeaders);
  };
}

/** Adds the listeners that both need. @param others what also shows in their events. @returns removes them */
function addListeners(
  filter: chrome.webRequest.RequestFilter,
  sink: RequestSink,
  others?: { onNetworkChanged(): void; onHintsAsked(url: string, acceptCh: string): void },
): () => void {
  const { webRequest } = chrome;

  const onBeforeRequest = (details: chrome.webRequest.OnBeforeRequestDetails): undefined => {
    if (isPageRequest(details)) sink.addRequest(details.tabId, toObserved(details), documentUrlOf(details));
  };
  const onHeadersReceived = (details: chrome.webRequest.OnHeadersReceivedDetails): undefined => {
    if (!isPageRequest(details)) return;
    const acceptCh = header(details.responseHeaders, 'accept-ch');
    if (acceptCh !== undefined) others?.onHintsAsked(details.url, acceptCh);
    // Where a proxy asks for a password, Chromium reports its answer alone, though the origin's follows.
    const headers = details.statusCode === PROXY_AUTHENTICATION ? null : details.responseHeaders;
    const length = Number(header(headers ?? [], 'content-length') ?? Number.NaN);
    sink.updateRequest(details.tabId, details.requestId, {
      sent: true,
      headersAt: details.timeStamp,
      status: details.statusCode,
      offersH3: headers === null ? null : offersH3(header(headers, 'alt-svc') ?? ''),
      contentLength: Number.isSafeInteger(length) && length >= 0 ? length : null,
    });
  };
  const onBeforeRedirect = (details: chrome.webRequest.OnBeforeRedirectDetails): void => {
    if (!isPageRequest(details)) return;
    sink.updateRequest(details.tabId, details.requestId, {
      ...endOf(details),
      redirected: true,
      internal: details.statusLine.includes('Internal Redirect'),
    });
  };
  const onCompleted = (details: chrome.webRequest.OnCompletedDetails): void => {
    if (!isPageRequest(details)) return;
    sink.updateRequest(details.tabId, details.requestId, endOf(details));
  };
  const onErrorOccurred = (details: chrome.webRequest.OnErrorOccurredDetails): void => {
    if (NETWORK_CHANGED.includes(details.error)) others?.onNetworkChanged();
    if (!isPageRequest(details)) return;
    sink.updateRequest(details.tabId, details.requestId, {
      endedAt: details.timeStamp,
      status: 0,
      failedOver: failedProtocol(details.error),
      // Chromium first requests fonts from the cache only, then again from the network.
      ...(details.error === 'net::ERR_CACHE_MISS' ? { sent: false } : {}),
    });
  };

  webRequest.onBeforeRequest.addListener(onBeforeRequest, filter);
  webRequest.onHeadersReceived.addListener(onHeadersReceived, filter, ['responseHeaders']);
  webRequest.onBeforeRedirect.addListener(onBeforeRedirect, filter);
  webRequest.onCompleted.addListener(onCompleted, filter);
  webRequest.onErrorOccurred.addListener(onErrorOccurred, filter);
  return () => {
    webRequest.onBeforeRequest.removeListener(onBeforeRequest);
    webRequest.onHeadersReceived.removeListener(onHeadersReceived);
    webRequest.onBeforeRedirect.removeListener(onBeforeRedirect);
    webRequest.onCompleted.removeListener(onCompleted);
    webRequest.onErrorOccurred.removeListener(onErrorOccurred);
  };
}

/** Whether the extension has the permission. Without it nothing is heard of requests, and all but detailed recordings works all the same. */
export function canListen(): boolean {
  return (chrome as Partial<typeof chrome>).webRequest !== undefined;
}

/** Leaves out requests of prerendered pages and of the browser itself, and sockets that stay open. */
function isPageRequest(
  details: Pick<Details, 'tabId' | 'type' | 'url'> & { documentLifecycle?: string },
): boolean {
  return (
    details.tabId >= 0 &&
    details.documentLifecycle !== 'prerender' &&
    details.type !== 'websocket' &&
    (details.type as string) !== 'webtransport' &&
    details.url.length <= MAX_TEXT_CHARS
  );
}

/** How a request or a redirect ended. */
const endOf = (
  details: chrome.webRequest.OnCompletedDetails | chrome.webRequest.OnBeforeRedirectDetails,
) => ({
  endedAt: details.timeStamp,
  status: details.statusCode,
  remoteIp: details.ip ?? null,
  fromCache: details.fromCache,
});

/** `documentUrl` is Firefox's. */
function documentUrlOf(details: { initiator?: string | undefined; documentUrl?: string }): string | null {
  return details.documentUrl ?? details.initiator ?? null;
}

function toObserved(details: chrome.webRequest.OnBeforeRequestDetails): ObservedRequest {
  return {
    requestId: details.requestId,
    url: details.url,
    method: details.method.slice(0, 32),
    type: resourceType(details.type),
    frameId: toFrameId(details),
    parentFrameId: details.parentFrameId,
    documentId: details.documentId ?? null,
    parentDocumentId: details.parentDocumentId ?? null,
    startedAt: details.timeStamp,
    sent: false,
    headersAt: null,
    endedAt: null,
    status: 0,
    failedOver: null,
    remoteIp: null,
    fromCache: false,
    referrer: null,
    credentials: null,
    offersH3: null,
    contentLength: null,
    redirected: false,
    internal: false,
  };
}

/**
 * Id of the frame that made the request. A document's first requests can come before the browser process has made it
 * the tab's current one; Chromium then reports the top frame with its internal id instead of 0.
 */
export function toFrameId({ frameId, parentFrameId }: { frameId: number; parentFrameId: number }): number {
  return frameId > 0 && parentFrameId === -1 ? 0 : frameId;
}

function header(headers: Header[] | undefined, name: string): string | undefined {
  return headers?.find((one) => one.name.toLowerCase() === name)?.value;
}

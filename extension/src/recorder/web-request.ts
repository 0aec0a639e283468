/** Listens to the browser's requests and describes each as an `ObservedRequest`. */
import { MAX_TEXT_CHARS } from './limits.ts';
import { hasCredentials, type ObservedRequest, offersH3, resourceType } from './observed-request.ts';

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
}

const FILTER = { urls: ['http://*/*', 'https://*/*'] };

/** Request errors which show that the browser changed networks or went offline. */
const NETWORK_CHANGED = ['net::ERR_NETWORK_CHANGED', 'net::ERR_INTERNET_DISCONNECTED', 'NS_ERROR_OFFLINE'];

/**
 * Must be called synchronously when the worker starts, otherwise the browser does not wake it for these events.
 *
 * @param onHintsAsked called with the URL of a page, and the `Accept-CH` of its answer
 */
export function listenToRequests(
  sink: RequestSink,
  onNetworkChanged: () => void,
  onHintsAsked: (url: string, acceptCh: string) => void,
): void {
  const { webRequest } = chrome;
  // Firefox has no extraHeaders and includes Referer without it.
  const extra = 'EXTRA_HEADERS' in (webRequest.OnSendHeadersOptions ?? {}) ? ['extraHeaders' as const] : [];

  webRequest.onBeforeRequest.addListener((details) => {
    if (isPageRequest(details)) sink.addRequest(details.tabId, toObserved(details), documentUrlOf(details));
    return undefined;
  }, FILTER);

  webRequest.onSendHeaders.addListener(
    (details) => {
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
    },
    FILTER,
    ['requestHeaders', ...extra],
  );

  webRequest.onHeadersReceived.addListener(
    (details) => {
      if (!isPageRequest(details)) return undefined;
      const length = Number(header(details.responseHeaders, 'content-length') ?? Number.NaN);
      const acceptCh = header(details.responseHeaders, 'accept-ch');
      if (details.type === 'main_frame' && acceptCh !== undefined) onHintsAsked(details.url, acceptCh);
      sink.updateRequest(details.tabId, details.requestId, {
        headersAt: details.timeStamp,
        status: details.statusCode,
        offersH3: offersH3(header(details.responseHeaders, 'alt-svc') ?? ''),
        contentLength: Number.isSafeInteger(length) && length >= 0 ? length : null,
      });
      return undefined;
    },
    FILTER,
    ['responseHeaders'],
  );

  webRequest.onBeforeRedirect.addListener((details) => {
    if (!isPageRequest(details)) return;
    sink.updateRequest(details.tabId, details.requestId, {
      endedAt: details.timeStamp,
      status: details.statusCode,
      remoteIp: details.ip ?? null,
      fromCache: details.fromCache,
      redirected: true,
      internal: details.statusLine.includes('Internal Redirect'),
    });
  }, FILTER);

  webRequest.onCompleted.addListener((details) => {
    if (!isPageRequest(details)) return;
    sink.updateRequest(details.tabId, details.requestId, {
      endedAt: details.timeStamp,
      status: details.statusCode,
      remoteIp: details.ip ?? null,
      fromCache: details.fromCache,
    });
  }, FILTER);

  webRequest.onErrorOccurred.addListener((details) => {
    if (NETWORK_CHANGED.includes(details.error)) onNetworkChanged();
    if (!isPageRequest(details)) return;
    sink.updateRequest(details.tabId, details.requestId, {
      endedAt: details.timeStamp,
      status: 0,
      // Chromium first requests fonts from the cache only, then again from the network.
      ...(details.error === 'net::ERR_CACHE_MISS' ? { sent: false } : {}),
    });
  }, FILTER);
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

import type { ResourceType } from '@hopwise/pageload-emulator';

/**
 * One request as webRequest reports it. Redirects of one request share `requestId`. Times are
 * milliseconds since 1970; null: has not happened, or the browser does not report it.
 */
export interface ObservedRequest {
  requestId: string;
  url: string;
  method: string;
  type: ResourceType;
  /** 0 is the top frame; -1 stands for a request outside any frame (of a worker). */
  frameId: number;
  parentFrameId: number;
  /** Document that made the request; Chromium only, and null for the navigation that creates it. */
  documentId: string | null;
  parentDocumentId: string | null;
  startedAt: number;
  /** Whether it was sent to the network; false when it was blocked, cancelled before, or only looked up in the cache. */
  sent: boolean;
  headersAt: number | null;
  endedAt: number | null;
  status: number;
  /** The protocol because of which it failed, as far as the browser says. */
  failedOver: 'h2' | 'h3' | null;
  remoteIp: string | null;
  fromCache: boolean;
  /** `Referer` as sent. */
  referrer: string | null;
  /** Whether it went over the connections with credentials; null before it was sent. */
  credentials: boolean | null;
  /** Whether `Alt-Svc` offers HTTP/3; null before the response. */
  offersH3: boolean | null;
  /** `Content-Length` of the response: the body's bytes on the wire. */
  contentLength: number | null;
  /** Whether the answer was a redirect. */
  redirected: boolean;
  /** Whether the browser itself made the redirect (HSTS), without asking the network. */
  internal: boolean;
}

/** Whether a navigation ended without a page: refused, a download, or an empty response. */
export function hasNoPage(document: ObservedRequest): boolean {
  return document.endedAt !== null && [0, 204, 205].includes(document.status);
}

const RESOURCE_TYPES: Record<string, ResourceType> = {
  main_frame: 'document',
  sub_frame: 'iframe',
  stylesheet: 'style',
  script: 'script',
  image: 'image',
  imageset: 'image',
  font: 'font',
  media: 'media',
  xmlhttprequest: 'fetch',
  ping: 'beacon',
  beacon: 'beacon',
  csp_report: 'beacon',
};

/** webRequest's resource type (Chromium's and Firefox's) in the recording's terms. */
export function resourceType(webRequestType: string): ResourceType {
  return RESOURCE_TYPES[webRequestType] ?? 'other';
}

/**
 * Whether a request goes over the connections with credentials. CORS requests (with an `Origin` of another site) have none unless
 * the page asks for them, which cookies show.
 *
 * @param sent values of the headers `Origin` and `Cookie`; undefined where they were not sent
 */
export function hasCredentials(
  url: string,
  sent: { origin: string | undefined; cookie: string | undefined },
): boolean {
  return sent.cookie !== undefined || sent.origin === undefined || sent.origin === new URL(url).origin;
}

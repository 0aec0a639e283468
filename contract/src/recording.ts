import type { Protocol } from './protocol.ts';

/** What a request is for. `beacon` and `other` never hold up the load event. */
export type ResourceType =
  | 'document'
  | 'iframe'
  | 'style'
  | 'script'
  | 'font'
  | 'image'
  | 'media'
  | 'fetch'
  | 'beacon'
  | 'other';

/** How the browser came to make a request. */
export type InitiatorKind = 'navigation' | 'parser' | 'preload' | 'script' | 'style' | 'redirect' | 'other';

/** Who asked for a request. */
export interface Initiator {
  /** What found or made the request. */
  kind: InitiatorKind;
  /** `id` of the request whose response asked for this one; null when nobody is known. */
  requestId: number | null;
  /** `inferred` marks an edge that the recording does not state. */
  source: 'recorded' | 'inferred';
}

/**
 * Phases of one request, milliseconds after navigationStart. Null where the browser withheld the
 * value (cross-origin without `Timing-Allow-Origin`) or where the phase did not take place (a
 * reused connection has no `dnsStart` to `connectEnd`). HTTP/3 has no phase between
 * `connectStart` and `secureStart`.
 */
export interface RequestPhases {
  dnsStartMs: number | null;
  dnsEndMs: number | null;
  connectStartMs: number | null;
  secureStartMs: number | null;
  connectEndMs: number | null;
  requestStartMs: number | null;
  responseStartMs: number | null;
}

/** One request of a page load. Nothing of bodies, cookies or header values but those named here. */
export interface RecordedRequest {
  /** Position in `Recording.requests`. */
  id: number;
  /** Absolute URL, without fragment. */
  url: string;
  /** In capitals. */
  method: string;
  /** What it is for. */
  type: ResourceType;
  /** HTTP status, 0 when the request failed. */
  status: number;
  /** What carried the response; null when it is not known or nothing came over the network. */
  protocol: Protocol | null;
  /** When the browser wanted it (fetchStart), milliseconds after navigationStart. */
  startMs: number;
  /** When its last byte arrived, milliseconds after navigationStart. */
  endMs: number;
  /** Where the time between `startMs` and `endMs` went. */
  phases: RequestPhases;
  /** Response bytes on the wire with headers; null when withheld. */
  transferBytes: number | null;
  /** Response body bytes on the wire; null when withheld. */
  bodyBytes: number | null;
  /** Response body bytes after decompression; null when withheld. */
  decodedBytes: number | null;
  /** Request body bytes; absent or null when the recorder does not know. */
  requestBodyBytes?: number | null;
  /** Who asked for it. */
  initiator: Initiator;
  /** Whether the browser said that it blocks rendering; null when it said nothing. */
  renderBlocking: boolean | null;
  /** Whether nothing of the answer came over the network: from a cache, a service worker, the browser itself. */
  fromCache: boolean;
  /** Whatever the recorder calls the connection; equal strings are equal connections. */
  connectionId: string | null;
  /** Address of the server, IPv6 without brackets; null when it is not known. */
  remoteIp: string | null;
  /** RFC 9218 urgency that the browser asked for, 0 to 7; absent or null when the recorder does not know. */
  urgency?: number | null;
  /** Whether the response offered HTTP/3 (`Alt-Svc` with an `h3` entry, RFC 7838). */
  offersH3: boolean | null;
}

/**
 * One page load as a browser saw it. The contract between every recorder (the extension, HAR
 * importers, the lab) and everything that reasons about a load.
 */
export interface Recording {
  format: 'hopwise-recording';
  version: 1;
  /** URL of the page, after redirects. */
  url: string;
  /** ISO 8601 time of navigationStart. */
  recordedAt: string;
  /** Name and version of the browser, or '' when not known. */
  browser: string;
  /** navigationStart to loadEventEnd (PLT), milliseconds; null when the load event never came. */
  pltMs: number | null;
  /** navigationStart to DOMContentLoaded, milliseconds; null when it is not known. */
  domContentLoadedMs: number | null;
  /** navigationStart to First Contentful Paint, else the first paint that the recorder saw, milliseconds; null when it is not known. */
  firstContentfulPaintMs: number | null;
  /** navigationStart to Largest Contentful Paint, milliseconds; null when it is not known. */
  largestContentfulPaintMs: number | null;
  /** URL of the image that was the largest paint; null for text, absent when the recorder does not know. */
  largestContentfulPaintUrl?: string | null;
  /** In order of `startMs`; the first is the document (or the redirect that led to it). */
  requests: RecordedRequest[];
}

import type { Protocol } from './protocol.ts';

/** Type of a requested resource. `beacon` and `other` never delay the load event. */
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

/** What made the browser issue a request. */
export type InitiatorKind = 'navigation' | 'parser' | 'preload' | 'script' | 'style' | 'redirect' | 'other';

/** The initiator of a request. */
export interface Initiator {
  /** What made the request. */
  kind: InitiatorKind;
  /** `id` of the request whose response led to this one; null when unknown. */
  requestId: number | null;
  /** `inferred` marks an edge that the recording does not state. */
  source: 'recorded' | 'inferred';
}

/**
 * Phases of one request, milliseconds after navigationStart. Null when the browser withheld the value (cross-origin without
 * `Timing-Allow-Origin`) or the phase did not take place (a reused connection has no `dnsStart` to `connectEnd`). HTTP/3 has no
 * phase between `connectStart` and `secureStart`.
 *
 * A request that used a connection already being opened shows only the part of the handshake after its own start: browsers
 * then set `connectStart` or `secureStart` to that start.
 *
 * Where the page's timings withhold the phases, extensions still see when a response began: then only `responseStart` is set.
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

/** Times of one recording that different clocks took, such as starts and phases of requests, are off by about this much. */
export const CLOCK_SLACK_MS = 5;

/** Phases that are all unknown, or did not take place. */
export const NO_PHASES: Readonly<RequestPhases> = {
  dnsStartMs: null,
  dnsEndMs: null,
  connectStartMs: null,
  secureStartMs: null,
  connectEndMs: null,
  requestStartMs: null,
  responseStartMs: null,
};

/** One request of a page load, without body, cookies and header values except those derived here. */
export interface RecordedRequest {
  /** Position in `Recording.requests`. */
  id: number;
  /** Absolute URL, without fragment. */
  url: string;
  /** In upper case. */
  method: string;
  /** Type of the resource. */
  type: ResourceType;
  /** HTTP status, 0 when the request failed. */
  status: number;
  /** Protocol that carried the response; null when unknown or when nothing came over the network. */
  protocol: Protocol | null;
  /**
   * When the page issued it (Resource Timing's `fetchStart`, the DevTools protocol's `requestWillBeSent`), milliseconds after
   * navigationStart: before it waited for the browser's scheduler, for the network stack or for a connection.
   */
  startMs: number;
  /** When its last byte arrived, milliseconds after navigationStart. */
  endMs: number;
  /** Phases between `startMs` and `endMs`. */
  phases: RequestPhases;
  /** Response bytes on the wire with headers; null when withheld. */
  transferBytes: number | null;
  /** Response body bytes on the wire; null when withheld. */
  bodyBytes: number | null;
  /** Response body bytes after decompression; null when withheld. */
  decodedBytes: number | null;
  /** Request body bytes; absent or null when unknown. */
  requestBodyBytes?: number | null;
  /** How long the browser took to write the request's body to its connection, milliseconds; absent or null when unknown. */
  requestBodyMs?: number | null;
  /**
   * Whether it went over connections that carry credentials: browsers keep others apart (Fetch standard, "connection pools").
   * Absent or null when unknown.
   */
  credentials?: boolean | null;
  /** What led to it. */
  initiator: Initiator;
  /** Whether the browser reports that it blocks rendering; null without a report. */
  renderBlocking: boolean | null;
  /** Whether no byte of the response came over the network: it came from a cache, a service worker or the browser itself. */
  fromCache: boolean;
  /** The recorder's name for the connection; equal strings mean the same connection. Null when unknown. */
  connectionId: string | null;
  /** Address of the server, IPv6 without brackets; null when unknown. */
  remoteIp: string | null;
  /** Urgency that the browser requested (RFC 9218), 0 to 7; absent or null when unknown. */
  urgency?: number | null;
  /** Whether the response offered HTTP/3 (`Alt-Svc` with an `h3` entry, RFC 7838); null when unknown. */
  offersH3: boolean | null;
}

/** Packets that servers sent over QUIC, by the numbers of those that arrived (RFC 9000 section 12.3). */
export interface QuicPackets {
  /** From the first number to the last, of all connections. */
  sent: number;
  /** Gaps in the numbers, each of one packet or more that never arrived: lost at random, in a queue or to a policer. */
  lossEvents: number;
}

/**
 * One page load as recorded by a browser: what every recorder (the extension, HAR importers, the lab) writes and every
 * prediction reads.
 */
export interface Recording {
  format: 'hopwise-recording';
  version: 1;
  /** URL of the page, after redirects. */
  url: string;
  /** ISO 8601 time of navigationStart. */
  recordedAt: string;
  /** Name and version of the browser, '' when unknown. */
  browser: string;
  /** navigationStart to loadEventEnd (PLT), milliseconds; null when the load event never came. */
  pltMs: number | null;
  /** navigationStart to DOMContentLoaded, milliseconds; null when unknown. */
  domContentLoadedMs: number | null;
  /** navigationStart to First Contentful Paint, else to the first recorded paint, milliseconds; null when unknown. */
  firstContentfulPaintMs: number | null;
  /** navigationStart to Largest Contentful Paint, milliseconds; null when unknown. */
  largestContentfulPaintMs: number | null;
  /** URL of the image of the largest paint; null for text, absent when unknown. */
  largestContentfulPaintUrl?: string | null;
  /**
   * What the input lacked of a page load: its load event, so that `pltMs` is null and the load's end a guess, or the navigation as a whole,
   * so that the requests are a set of transfers. Absent where neither is missing.
   */
  missing?: 'load-event' | 'navigation';
  /**
   * Whether each request that shows when it left also shows the phases of the connection that it opened: one without them then went over
   * an open connection. Absent where the recorder does not say so.
   */
  showsConnections?: boolean;
  /**
   * How many requests to the page's origins failed because of a protocol, by the error that the browser named, before the page had loaded, in this
   * or an earlier attempt. Absent where none did, or the recorder names no errors.
   */
  failedOver?: Partial<Record<'h2' | 'h3', number>>;
  /** Whether the browser ended a request because its network changed or was gone; absent where it did not, or the recorder names no errors. */
  networkChanged?: boolean;
  /** Packets over QUIC that the load's servers numbered; absent where the recorder sees no packets. */
  quicPackets?: QuicPackets;
  /** In order of `startMs`; the first is the document (or the redirect that led to it), unless the input lacks it. */
  requests: RecordedRequest[];
}

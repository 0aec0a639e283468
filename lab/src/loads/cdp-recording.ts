/** Turns a page load observed through the DevTools protocol into a `Recording`, with the network stack's own times. */
import { NO_PHASES, offersH3 } from '@hopwise/contract';
import {
  type InitiatorKind,
  originOf,
  parseProtocol,
  type RecordedRequest,
  type Recording,
  type RequestPhases,
  type ResourceType,
} from '@hopwise/pageload-emulator';
import type { Protocol as Cdp } from 'devtools-protocol';
import { answeredAt, type Hop } from './cdp-observer.ts';

/** Timing reported by the page itself: milliseconds after navigationStart. */
export interface PageTiming {
  /** Unix time of navigationStart, milliseconds. */
  timeOrigin: number;
  /** URL of the document, with fragment. */
  url: string;
  pltMs: number;
  domContentLoadedMs: number;
  fcpMs: number | null;
  lcpMs: number | null;
}

/** The requests that started before the load event ended, and those of them that failed. */
interface ObservedLoad {
  recording: Recording;
  failed: { url: string; reason: string }[];
}

/** The browser's process stamps a navigation's request, the page's process navigationStart: their clocks differ slightly. */
const EARLY_MS = 1;

/**
 * The recording of all requests that started before the load event ended.
 *
 * @param requests in order of start
 * @param navigationStart monotonic milliseconds
 * @param browser name and version
 */
export function observedLoad(
  requests: readonly Hop[],
  timing: PageTiming,
  navigationStart: number,
  browser: string,
): ObservedLoad {
  const hops = requests.filter(
    ({ url, wantedAt }) =>
      originOf(url) !== null &&
      wantedAt >= navigationStart - EARLY_MS &&
      wantedAt <= navigationStart + timing.pltMs,
  );
  return {
    recording: recordingOf(withoutReuse(hops), timing, navigationStart, browser),
    failed: hops.flatMap((hop) => {
      const reason = failureOf(hop);
      return reason === null ? [] : [{ url: withoutFragment(hop.url), reason }];
    }),
  };
}

const withoutFragment = (url: string): string => url.split('#')[0] as string;

function failureOf(hop: Hop): string | null {
  if (hop.failure !== null) return hop.failure;
  return hop.response && hop.response.status >= 400 ? `status ${hop.response.status}` : null;
}

/** Whether no part of the answer came over the network; of a revalidated one (304), some did. */
function isCached(hop: Hop): boolean {
  if (hop.servedFromMemory) return true;
  const { response } = hop;
  const kept = response?.fromDiskCache || response?.fromPrefetchCache || response?.fromServiceWorker;
  return Boolean(kept) && (hop.encodedBytes ?? 0) === 0;
}

/** Drops requests answered from the memory cache with what this load had fetched before. @param hops in order of time */
function withoutReuse(hops: readonly Hop[]): Hop[] {
  const fetched = new Set<string>();
  return hops.filter((hop) => {
    if (hop.servedFromMemory) return !fetched.has(hop.url);
    fetched.add(hop.url);
    return true;
  });
}

function recordingOf(
  hops: readonly Hop[],
  timing: PageTiming,
  navigationStart: number,
  browser: string,
): Recording {
  const mainFrame = hops.find(({ type }) => type === 'Document')?.frameId;
  const ids = new Map(hops.map((hop, id) => [hop, id]));
  const byUrl = new Map<string, Hop[]>();
  for (const hop of hops) {
    const url = withoutFragment(hop.url);
    byUrl.set(url, [...(byUrl.get(url) ?? []), hop]);
  }
  return {
    format: 'hopwise-recording',
    version: 1,
    url: withoutFragment(timing.url),
    recordedAt: new Date(timing.timeOrigin).toISOString(),
    browser,
    pltMs: timing.pltMs,
    domContentLoadedMs: timing.domContentLoadedMs,
    firstContentfulPaintMs: timing.fcpMs,
    largestContentfulPaintMs: timing.lcpMs,
    requests: hops.map((hop, id) => {
      const fromCache = isCached(hop);
      const startMs = Math.max(0, hop.wantedAt - navigationStart);
      const lastKnownAt = hop.endedAt ?? (hop.response && answeredAt(hop.response)) ?? hop.wantedAt;
      const isNavigation = hop.type === 'Document' && hop.frameId === mainFrame;
      return {
        id,
        url: withoutFragment(hop.url),
        method: hop.method,
        type: isNavigation ? 'document' : TYPES[hop.type],
        status: hop.failure === null ? (hop.response?.status ?? 0) : 0,
        protocol: fromCache ? null : parseProtocol(hop.response?.protocol),
        startMs,
        endMs: Math.max(startMs, lastKnownAt - navigationStart),
        phases: fromCache ? NO_PHASES : phasesOf(hop.response, navigationStart),
        ...sizesOf(hop, fromCache),
        initiator: initiatorOf(hop, isNavigation, ids, byUrl),
        renderBlocking: hop.renderBlocking,
        fromCache,
        connectionId: fromCache ? null : connectionOf(hop.response),
        remoteIp: hop.response?.remoteIPAddress?.replace(/^\[|\]$/g, '') || null,
        urgency: urgencyOf(hop),
        offersH3: hop.response && offersH3(headerOf(hop.response, 'alt-svc') ?? ''),
      };
    }),
  };
}

/** `Other` is the page's icon and requests that the browser makes on its own. */
const TYPES: Record<Cdp.Network.ResourceType, ResourceType> = {
  Document: 'iframe',
  Stylesheet: 'style',
  Script: 'script',
  Font: 'font',
  Image: 'image',
  Media: 'media',
  TextTrack: 'media',
  XHR: 'fetch',
  Fetch: 'fetch',
  Preflight: 'fetch',
  EventSource: 'fetch',
  WebSocket: 'fetch',
  Ping: 'beacon',
  CSPViolationReport: 'beacon',
  Prefetch: 'other',
  Manifest: 'other',
  SignedExchange: 'other',
  FedCM: 'other',
  Other: 'other',
};

function phasesOf(response: Cdp.Network.Response | null, navigationStart: number): RequestPhases {
  const timing = response?.timing;
  if (!timing) return NO_PHASES;
  const base = timing.requestTime * 1000 - navigationStart;
  /** −1 marks a phase that did not take place. */
  const at = (relativeMs: number) => (relativeMs < 0 ? null : base + relativeMs);
  return {
    dnsStartMs: at(timing.dnsStart),
    dnsEndMs: at(timing.dnsEnd),
    connectStartMs: at(timing.connectStart),
    secureStartMs: at(timing.sslStart),
    connectEndMs: at(timing.connectEnd),
    requestStartMs: at(timing.sendStart),
    responseStartMs: at(timing.receiveHeadersStart ?? timing.receiveHeadersEnd),
  };
}

function sizesOf(
  hop: Hop,
  fromCache: boolean,
): Pick<RecordedRequest, 'transferBytes' | 'bodyBytes' | 'decodedBytes'> {
  if (fromCache) return { transferBytes: 0, bodyBytes: 0, decodedBytes: hop.decodedBytes };
  const { response, encodedBytes } = hop;
  if (response === null || encodedBytes === null) {
    return { transferBytes: null, bodyBytes: null, decodedBytes: null };
  }
  // When the response is reported, usually only its headers have arrived, more if the browser was busy.
  const afterHeaders = encodedBytes - Math.max(0, response.encodedDataLength);
  const bodyBytes = Math.min(encodedBytes, Math.max(afterHeaders, minBodyBytes(hop, response)));
  return { transferBytes: encodedBytes, bodyBytes, decodedBytes: hop.decodedBytes };
}

/** Lower bound of the body's bytes on the wire without framing, from the response headers. */
function minBodyBytes({ decodedBytes }: Hop, response: Cdp.Network.Response): number {
  const length = headerOf(response, 'content-length') ?? '';
  if (decodedBytes > 0 && /^\d{1,15}$/.test(length)) return Number(length);
  return headerOf(response, 'content-encoding') === undefined ? decodedBytes : 0;
}

function headerOf({ headers }: Cdp.Network.Response, name: string): string | undefined {
  return Object.entries(headers).find(([own]) => own.toLowerCase() === name)?.[1];
}

function connectionOf(response: Cdp.Network.Response | null): string | null {
  return response && response.connectionId > 0 ? String(response.connectionId) : null;
}

/** RFC 9218 urgency as Chromium puts it in the `Priority` header (net/http: the distance from its highest priority). */
const URGENCY: Record<Cdp.Network.ResourcePriority, number> = {
  VeryHigh: 0,
  High: 1,
  Medium: 2,
  Low: 3,
  VeryLow: 4,
};

/** Urgency of the priority that the request was sent with. */
function urgencyOf(hop: Hop): number {
  const timing = hop.response?.timing;
  const sentAt = timing ? timing.requestTime * 1000 + timing.sendStart : Number.POSITIVE_INFINITY;
  return URGENCY[hop.priorities.findLast(({ at }) => at <= sentAt)!.priority];
}

// Initiators

const KINDS: Record<Cdp.Network.Initiator['type'], InitiatorKind> = {
  parser: 'parser',
  script: 'script',
  preload: 'preload',
  SignedExchange: 'parser',
  preflight: 'script',
  FedCM: 'other',
  other: 'other',
};

function initiatorOf(
  hop: Hop,
  isNavigation: boolean,
  ids: ReadonlyMap<Hop, number>,
  byUrl: ReadonlyMap<string, Hop[]>,
): RecordedRequest['initiator'] {
  if (hop.redirectedFrom !== null) {
    return { kind: 'redirect', requestId: ids.get(hop.redirectedFrom) ?? null, source: 'recorded' };
  }
  if (isNavigation) return { kind: 'navigation', requestId: null, source: 'recorded' };
  const initiators = [...urlsOf(hop.initiator)].flatMap((url) => {
    const begun = byUrl.get(withoutFragment(url)) ?? [];
    return begun.findLast((asker) => asker !== hop && asker.wantedAt <= hop.wantedAt) ?? [];
  });
  // The script of a stack that arrived last determined when the request could start.
  const asker = initiators.reduce<Hop | null>(
    (last, next) => (last === null || endOf(next) > endOf(last) ? next : last),
    null,
  );
  const kind = hop.isPreload ? 'preload' : KINDS[hop.initiator.type];
  return {
    kind: kind === 'parser' && asker?.type === 'Stylesheet' ? 'style' : kind,
    requestId: asker === null ? null : (ids.get(asker) ?? null),
    source: asker === null || kind === 'other' ? 'inferred' : 'recorded',
  };
}

const endOf = ({ endedAt }: Hop): number => endedAt ?? Number.POSITIVE_INFINITY;

/** URLs of an initiator, its stack and that stack's async parents, innermost first. */
function urlsOf({ url, stack }: Cdp.Network.Initiator): Set<string> {
  const urls = new Set<string>();
  if (url) urls.add(url);
  for (let part = stack; part; part = part.parent) {
    for (const frame of part.callFrames) if (frame.url) urls.add(frame.url);
  }
  return urls;
}

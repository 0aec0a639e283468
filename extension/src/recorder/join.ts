import type { RecordedRequest, Recording, RequestPhases, ResourceType } from '@hopwise/pageload-emulator';
import { parseProtocol } from '@hopwise/pageload-emulator';
import { withoutFragment } from './asks.ts';
import { groupBy } from './group-by.ts';
import { findInitiators } from './initiators.ts';
import type { ObservedRequest } from './observed-request.ts';
import type { FrameTimings, ResourceEntry } from './page-timings.ts';

/** What the frames of a page measured, with the frame's id in its tab (0 is the top frame). */
export interface FrameReport extends FrameTimings {
  frameId: number;
}

/** Everything seen of one page load. */
export interface LoadObservation {
  /** In the order in which they began. */
  requests: ObservedRequest[];
  frames: FrameReport[];
  /** Id of the top document, '' where the browser has none. */
  documentId: string;
  browser: string;
  /** When the frames were asked, milliseconds since 1970. */
  takenAt: number;
}

/** A request under way from webRequest to the recording: what each side knows of it. */
export interface JoinedRequest {
  /** Null for what never reached the network (memory cache, a service worker's answer). */
  observed: ObservedRequest | null;
  /** Null for redirect hops and for what the page's timings do not list. */
  entry: ResourceEntry | null;
  /** Frame that holds the request: for an iframe's document, its parent. */
  frame: FrameReport | null;
  /** For the document of a frame: that frame. */
  documentOf: FrameReport | null;
  /** The hop that redirected here. */
  redirectedFrom: JoinedRequest | null;
  type: ResourceType;
  /** Milliseconds after the page's navigationStart. */
  startMs: number;
  endMs: number;
}

/**
 * Two clocks meet here: webRequest's times are the browser process's, Resource Timing's the
 * renderer's. An entry further than this from a request is another request for the same URL.
 */
const CLOCK_TOLERANCE_MS = 2000;

/**
 * Joins webRequest's view of a page load with what its frames measured.
 *
 * @throws Error when the top frame or the request for the page itself is missing
 */
export function joinRecording(observation: LoadObservation): Recording {
  const top = observation.frames.find((frame) => frame.frameId === 0);
  if (!top?.navigation) throw new Error('the page gave no navigation timing');
  const joined = joinRequests(observation, top);
  const first = joined[0];
  if (first?.type !== 'document') throw new Error('the request for the page itself was not seen');

  const initiators = findInitiators(joined);
  const { loadEventEnd, domContentLoadedEventEnd } = top.navigation;
  return {
    format: 'hopwise-recording',
    version: 1,
    url: withoutFragment(top.url),
    recordedAt: new Date(top.timeOrigin).toISOString(),
    browser: observation.browser,
    pltMs: loadEventEnd > 0 ? loadEventEnd : null,
    domContentLoadedMs: domContentLoadedEventEnd > 0 ? domContentLoadedEventEnd : null,
    firstContentfulPaintMs: top.firstContentfulPaint,
    largestContentfulPaintMs: top.largestContentfulPaint,
    requests: joined.map((request, id) => ({
      id,
      ...recordedFields(request),
      initiator: initiators[id]!,
    })),
  };
}

/** In order of start, the page's own request first. */
function joinRequests(observation: LoadObservation, top: FrameReport): JoinedRequest[] {
  const chains = groupBy(ofTheDocument(observation).filter(reachedNetwork), (request) => request.requestId);
  const entries = new EntryPool(observation.frames);
  const frames = new Map(observation.frames.map((frame) => [frame.frameId, frame]));
  const joined: JoinedRequest[] = [];

  for (const chain of chains.values()) {
    const hops = chain.filter((hop) => !hop.internal);
    const isDocument = chain[0]!.type === 'document' || chain[0]!.type === 'iframe';
    const frame = frames.get(isDocument ? chain[0]!.parentFrameId : chain[0]!.frameId) ?? null;
    const documentOf = isDocument ? documentFrame(chain, frames) : null;
    const fromParent = entries.take(chain, frame);
    const entry = documentOf?.entry ?? fromParent?.entry ?? null;
    const origin = documentOf?.frame.timeOrigin ?? frame?.timeOrigin ?? top.timeOrigin;
    // The parent wanted an iframe before there was a process with a clock for it.
    const wantedMs =
      documentOf && fromParent && frame ? fromParent.entry.fetchStart + frame.timeOrigin : null;
    let previous: JoinedRequest | null = null;
    for (const [index, hop] of hops.entries()) {
      const measured = index === hops.length - 1 && !hop.redirected ? entry : null;
      const shift = origin - top.timeOrigin;
      const startMs = measured
        ? Math.min(measured.fetchStart + origin, wantedMs ?? Number.POSITIVE_INFINITY) - top.timeOrigin
        : hop.startedAt - top.timeOrigin;
      const endedMs = (hop.endedAt ?? observation.takenAt) - top.timeOrigin;
      const endMs = measured && measured.responseEnd > 0 ? measured.responseEnd + shift : endedMs;
      const request: JoinedRequest = {
        observed: hop,
        entry: measured && shifted(measured, shift),
        frame,
        documentOf: measured ? (documentOf?.frame ?? null) : null,
        redirectedFrom: previous,
        type: isIcon(hop, fromParent?.entry) ? 'other' : hop.type,
        startMs: Math.max(0, startMs),
        endMs: Math.max(0, startMs, endMs),
      };
      joined.push(request);
      previous = request;
    }
  }

  for (const { frame, entry } of entries.rest()) {
    const shift = frame.timeOrigin - top.timeOrigin;
    joined.push({
      observed: null,
      entry: shifted(entry, shift),
      frame,
      documentOf: null,
      redirectedFrom: null,
      type: typeFromTiming(entry),
      startMs: Math.max(0, entry.fetchStart + shift),
      endMs: Math.max(0, entry.fetchStart + shift, entry.responseEnd + shift),
    });
  }

  const rank = (request: JoinedRequest) =>
    request.type === 'document' && !request.redirectedFrom ? -1 : request.startMs;
  return joined.sort((a, b) => rank(a) - rank(b));
}

/** A page's icon, which holds up nothing: an image that neither an element nor a style asked for. */
function isIcon(hop: ObservedRequest, entry: ResourceEntry | undefined): boolean {
  return hop.type === 'image' && hop.frameId === 0 && (!entry || entry.initiatorType === 'other');
}

function reachedNetwork(request: ObservedRequest): boolean {
  return request.sent || request.status !== 0 || request.endedAt === null;
}

/**
 * Leaves out what the document before this one still asked for after the navigation had begun:
 * requests of documents that are neither the page's nor of one of its frames.
 */
function ofTheDocument({ requests, documentId }: LoadObservation): ObservedRequest[] {
  if (!documentId) return requests;
  const own = new Set([documentId]);
  for (let before = 0; before !== own.size; ) {
    before = own.size;
    for (const { documentId: id, parentDocumentId } of requests) {
      if (id && parentDocumentId && own.has(parentDocumentId)) own.add(id);
    }
  }
  return requests.filter(({ type, documentId: id, parentDocumentId }) => {
    if (type === 'document') return true;
    if (type === 'iframe') return !parentDocumentId || own.has(parentDocumentId);
    return !id || own.has(id);
  });
}

/** The frame that a navigation request became, with that frame's own timing of it. */
function documentFrame(chain: ObservedRequest[], frames: Map<number, FrameReport>) {
  const last = chain.at(-1)!;
  const frame = frames.get(last.frameId);
  if (!frame?.navigation) return null;
  // An iframe may have held several documents; the frame reports its last.
  const distance = Math.abs(frame.timeOrigin - chain[0]!.startedAt);
  if (last.type === 'iframe' && distance > CLOCK_TOLERANCE_MS) return null;
  return { frame, entry: frame.navigation };
}

/** Resource Timing entries of all frames, each to be taken by one request. */
class EntryPool {
  readonly #entries: Map<string, { frame: FrameReport; entry: ResourceEntry }[]>;

  constructor(frames: FrameReport[]) {
    const all = frames.flatMap((frame) => frame.resources.map((entry) => ({ frame, entry })));
    this.#entries = groupBy(all, ({ frame, entry }) => EntryPool.#key(frame.frameId, entry.name));
  }

  static #key(frameId: number, url: string): string {
    return `${frameId} ${withoutFragment(url)}`;
  }

  /** The entry nearest in time; an entry is named by the URL first asked for, before redirects. */
  take(chain: ObservedRequest[], frame: FrameReport | null) {
    const first = chain[0]!;
    // Chromium answers a CORS preflight with no entry of its own.
    if (!frame || first.method === 'OPTIONS') return null;
    const candidates = this.#entries.get(EntryPool.#key(frame.frameId, first.url)) ?? [];
    const away = ({ entry }: { entry: ResourceEntry }) =>
      Math.abs(frame.timeOrigin + entry.startTime - first.startedAt);
    let best = -1;
    for (let i = 0; i < candidates.length; i++) {
      if (away(candidates[i]!) > CLOCK_TOLERANCE_MS) continue;
      if (best < 0 || away(candidates[i]!) < away(candidates[best]!)) best = i;
    }
    return best < 0 ? null : candidates.splice(best, 1)[0]!;
  }

  rest() {
    return [...this.#entries.values()].flat();
  }
}

/** The same entry on the page's clock; 0 stays 0, it stands for withheld. */
function shifted(entry: ResourceEntry, byMs: number): ResourceEntry {
  if (byMs === 0) return entry;
  const move = (ms: number) => (ms > 0 ? ms + byMs : 0);
  return {
    ...entry,
    startTime: entry.startTime + byMs,
    fetchStart: entry.fetchStart + byMs,
    domainLookupStart: move(entry.domainLookupStart),
    domainLookupEnd: move(entry.domainLookupEnd),
    connectStart: move(entry.connectStart),
    secureConnectionStart: move(entry.secureConnectionStart),
    connectEnd: move(entry.connectEnd),
    requestStart: move(entry.requestStart),
    responseStart: move(entry.responseStart),
    responseEnd: move(entry.responseEnd),
  };
}

function recordedFields(request: JoinedRequest): Omit<RecordedRequest, 'id' | 'initiator'> {
  const { observed, entry } = request;
  // Without Timing-Allow-Origin the browser withholds everything between start and end.
  const shown = entry !== null && entry.responseStart > 0;
  const fromCache = observed
    ? observed.fromCache || entry?.deliveryType === 'cache'
    : entry?.transferSize === 0;
  const wireBody = fromCache ? 0 : (observed?.contentLength ?? null);
  return {
    url: withoutFragment(observed?.url ?? entry!.name),
    method: observed?.method ?? 'GET',
    type: request.type,
    status: observed ? (observed.endedAt === null ? 0 : observed.status) : 200,
    protocol: parseProtocol(entry?.nextHopProtocol),
    startMs: request.startMs,
    endMs: request.endMs,
    phases: shown ? phasesOf(entry) : NO_PHASES,
    transferBytes: shown ? entry.transferSize : fromCache ? 0 : null,
    bodyBytes: shown && !fromCache ? entry.encodedBodySize : wireBody,
    decodedBytes: shown || (entry && entry.decodedBodySize > 0) ? entry.decodedBodySize : null,
    renderBlocking: entry?.renderBlockingStatus ? entry.renderBlockingStatus === 'blocking' : null,
    fromCache,
    connectionId: null,
    remoteIp: observed?.remoteIp ?? null,
    offersH3: observed?.offersH3 ?? null,
  };
}

const NO_PHASES: RequestPhases = {
  dnsStartMs: null,
  dnsEndMs: null,
  connectStartMs: null,
  secureStartMs: null,
  connectEndMs: null,
  requestStartMs: null,
  responseStartMs: null,
};

/** On a reused connection the browser repeats fetchStart for the phases that did not take place. */
function phasesOf(entry: ResourceEntry): RequestPhases {
  const resolved = entry.domainLookupEnd > entry.domainLookupStart;
  const connected = entry.connectEnd > entry.connectStart;
  const secured = connected && entry.secureConnectionStart > 0;
  return {
    dnsStartMs: resolved ? entry.domainLookupStart : null,
    dnsEndMs: resolved ? entry.domainLookupEnd : null,
    connectStartMs: connected ? entry.connectStart : null,
    secureStartMs: secured ? entry.secureConnectionStart : null,
    connectEndMs: connected ? entry.connectEnd : null,
    requestStartMs: entry.requestStart > 0 ? entry.requestStart : null,
    responseStartMs: entry.responseStart,
  };
}

function typeFromTiming(entry: ResourceEntry): ResourceType {
  switch (entry.initiatorType) {
    case 'img':
    case 'image':
    case 'input':
      return 'image';
    case 'script':
      return 'script';
    case 'fetch':
    case 'xmlhttprequest':
      return 'fetch';
    case 'iframe':
    case 'frame':
      return 'iframe';
    case 'video':
    case 'audio':
      return 'media';
    case 'beacon':
      return 'beacon';
    case 'css':
      return /\.(woff2?|ttf|otf)(\?|$)/i.test(entry.name) ? 'font' : 'image';
    case 'link':
      return /\.css(\?|$)/i.test(entry.name) ? 'style' : 'other';
    default:
      return 'other';
  }
}

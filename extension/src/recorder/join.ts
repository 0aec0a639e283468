import { groupBy, NO_PHASES } from '@hopwise/contract';
import type { RecordedRequest, Recording, RequestPhases, ResourceType } from '@hopwise/pageload-emulator';
import { countFailures, parseProtocol } from '@hopwise/pageload-emulator';
import { ShownError } from '../language/shown-error.ts';
import { t } from '../language/translate.ts';
import { findInitiators } from './initiators.ts';
import type { FrameReport, JoinedRequest } from './joined-request.ts';
import { MAX_ENTRIES } from './limits.ts';
import type { ObservedRequest } from './observed-request.ts';
import type { FrameResource, ResourceEntry } from './page-timings.ts';
import { findHoldingFrame, hasTimings, isNavigation, pairEntries } from './pair-entries.ts';
import { isUnanswered, showsAnswer } from './unanswered.ts';
import { withoutFragment } from './url-text.ts';
import { findWorkerFetches } from './worker-fetches.ts';

/** Everything observed of one page load. */
export interface LoadObservation {
  /** In the order in which they began. */
  requests: ObservedRequest[];
  /** URLs of requests that failed in the network; they may not be among `requests`. */
  failures: readonly string[];
  frames: FrameReport[];
  /** Whether `requests` has all requests from the navigation on, and not some or none. */
  seesRequests: boolean;
  /** Id of the top document, '' where the browser has none. */
  documentId: string;
  browser: string;
  /** When the frames were queried, milliseconds since 1970. */
  takenAt: number;
  /** Whether the extension has access to all sites: requests to others are not among `requests`. */
  seesAllSites: boolean;
}

/**
 * Joins webRequest's view of a page load with what its frames measured.
 *
 * @throws Error when the top frame is missing
 */
export function joinRecording(observation: LoadObservation): Recording {
  const top = observation.frames.find((frame) => frame.frameId === 0);
  if (!top?.navigation) throw new ShownError(() => t('recordNoTiming'));
  const joined = joinRequests(observation, top);
  const initiators = findInitiators(joined);
  const workerFetches = findWorkerFetches(joined);
  const failed = new Set(observation.failures.map(withoutFragment));
  const { loadEventEnd, domContentLoadedEventEnd } = top.navigation;
  return {
    format: 'hopwise-recording',
    version: 1,
    // The frame's own URL may be of another page by now, to which a script changed without a load (`history.pushState`).
    url: withoutFragment(top.navigation.name),
    recordedAt: new Date(top.timeOrigin).toISOString(),
    browser: observation.browser,
    // An earlier end is not the page's, see `FrameRecorder`.
    pltMs: loadEventEnd > 0 && loadEventEnd >= domContentLoadedEventEnd ? loadEventEnd : null,
    domContentLoadedMs: domContentLoadedEventEnd > 0 ? domContentLoadedEventEnd : null,
    firstContentfulPaintMs: top.firstContentfulPaint,
    largestContentfulPaintMs: top.largestContentfulPaint,
    largestContentfulPaintUrl:
      top.largestContentfulPaintUrl === null ? null : withoutFragment(top.largestContentfulPaintUrl),
    // What Resource Timing tells of a request's beginning, it tells of its connection too.
    showsConnections: true,
    // A beacon, or a stream that breaks later, delays nothing.
    ...countFailures(
      joined
        .filter(({ type, endMs }) => type !== 'beacon' && (loadEventEnd <= 0 || endMs <= loadEventEnd))
        .map(({ observed }) => observed?.failedOver ?? null),
    ),
    requests: joined.map((request, id) => ({
      id,
      ...recordedFields(request, { failed, isWorkerFetch: workerFetches.has(request) }),
      initiator: initiators[id]!,
    })),
  };
}

/** Returns the requests in order of start, the page's own first. */
function joinRequests(observation: LoadObservation, top: FrameReport): JoinedRequest[] {
  const own = selectOwnRequests(observation);
  const chains = groupBy(own.filter(reachedNetwork), (request) => request.requestId);
  const unsent = own.filter((request) => !reachedNetwork(request));
  const frames = new Map(observation.frames.map((frame) => [frame.frameId, frame]));
  const { paired, unpaired } = pairEntries([...chains.values()], unsent, observation);
  const isNavigationSeen = [...chains.values()].some(([first]) => first!.type === 'document');
  const lastOfFrame = new Map(
    [...chains.values()].filter(([first]) => isNavigation(first!)).map((chain) => [chain[0]!.frameId, chain]),
  );
  const joined = [...chains.values()].flatMap((chain) => {
    const [first] = chain as [ObservedRequest];
    // A frame may have held several documents; it reports its last.
    const isCurrent = lastOfFrame.get(first.frameId) === chain;
    return joinChain(chain, {
      document: isCurrent ? documentFrame(frames.get(first.frameId)) : null,
      frame: frames.get(findHoldingFrame(first)) ?? null,
      fromParent: paired.get(chain) ?? null,
      top,
      takenAt: observation.takenAt,
    });
  });
  if (!isNavigationSeen) joined.push(navigationOf(top, top, observation.takenAt));
  const others = observation.frames.filter(({ frameId }) => frameId !== 0 && !lastOfFrame.has(frameId));
  const documents = findDocuments(unpaired, others);
  const listed = new Set(documents.values());
  for (const frame of others)
    if (isOfWeb(frame) && !listed.has(frame)) joined.push(navigationOf(frame, top, observation.takenAt));
  for (const { frame, entry } of unpaired.slice(0, Math.max(0, MAX_ENTRIES - joined.length)))
    joined.push(listedRequest(entry, frame, documents.get(entry) ?? null, top));

  const rank = (request: JoinedRequest) =>
    request.type === 'document' && !request.redirectedFrom ? -1 : request.startMs;
  return joined.sort((a, b) => rank(a) - rank(b));
}

/** What the frames measured of the request that a chain of redirects makes up. */
interface MeasuredChain {
  /** The frame whose document the chain led to, with its own timing. */
  document: ReturnType<typeof documentFrame>;
  /** The frame whose timings list the request. */
  frame: FrameReport | null;
  /** Its entry there. */
  fromParent: FrameResource | null;
  top: FrameReport;
  takenAt: number;
}

/** Joins the hops of one request with its entry, which is of the last one. */
function joinChain(
  chain: readonly ObservedRequest[],
  { document, frame, fromParent, top, takenAt }: MeasuredChain,
): JoinedRequest[] {
  const hops = chain.filter((hop) => !hop.internal);
  const entry = document?.entry ?? fromParent;
  // Times since 1970 lose the microseconds by which a request precedes the end of the script that made it.
  const shift = (document?.frame.timeOrigin ?? frame?.timeOrigin ?? top.timeOrigin) - top.timeOrigin;
  // The parent requested the iframe before the process with the iframe's clock existed.
  const requestedMs =
    document && fromParent && frame ? fromParent.fetchStart + (frame.timeOrigin - top.timeOrigin) : null;
  const joined: JoinedRequest[] = [];
  for (const [index, hop] of hops.entries()) {
    const measured = index === hops.length - 1 && !hop.redirected ? entry : null;
    const startMs = measured
      ? Math.min(measured.fetchStart + shift, requestedMs ?? Number.POSITIVE_INFINITY)
      : hop.startedAt - top.timeOrigin;
    const endedMs = (hop.endedAt ?? takenAt) - top.timeOrigin;
    const endMs = measured && measured.responseEnd > 0 ? measured.responseEnd + shift : endedMs;
    joined.push({
      observed: hop,
      entry: measured && shiftEntry(measured, shift),
      frame,
      documentOf: measured ? (document?.frame ?? null) : null,
      redirectedFrom: joined.at(-1) ?? null,
      maker: index === 0 ? (fromParent?.maker ?? null) : null,
      type: isIcon(hop, fromParent) ? 'other' : hop.type,
      startMs: Math.max(0, startMs),
      headersMs: hop.headersAt === null ? null : hop.headersAt - top.timeOrigin,
      endMs: Math.max(0, startMs, endMs),
    });
  }
  return joined;
}

/** A request that the timings of a frame list, and that was not observed. @param documentOf the frame whose document it requested */
function listedRequest(
  entry: FrameResource,
  frame: FrameReport,
  documentOf: FrameReport | null,
  top: FrameReport,
): JoinedRequest {
  const shift = frame.timeOrigin - top.timeOrigin;
  return {
    observed: null,
    entry: shiftEntry(entry, shift),
    frame,
    documentOf,
    redirectedFrom: null,
    maker: entry.maker,
    type: typeFromTiming(entry),
    startMs: Math.max(0, entry.fetchStart + shift),
    headersMs: null,
    endMs: Math.max(0, entry.fetchStart + shift, entry.responseEnd + shift),
  };
}

/** The request for a frame's document as the frame measured it, of which redirects by other sites do not show. */
function navigationOf(frame: FrameReport, top: FrameReport, takenAt: number): JoinedRequest {
  const shift = frame.timeOrigin - top.timeOrigin;
  const entry = shiftEntry(frame.navigation!, shift);
  // It has no end while the document is still coming.
  const endMs = entry.responseEnd > 0 ? entry.responseEnd : takenAt - top.timeOrigin;
  const isTop = frame === top;
  return {
    observed: null,
    entry,
    frame: null,
    documentOf: frame,
    redirectedFrom: null,
    // The page's timings list what an element of its requested first. A script, a form or a link led the frame to a document that they do not.
    maker: isTop ? null : { by: 'script', scriptUrl: null },
    type: isTop ? 'document' : 'iframe',
    startMs: Math.max(0, entry.fetchStart),
    headersMs: null,
    endMs: Math.max(0, entry.fetchStart, endMs),
  };
}

/** Whether a request is for the page's icon, which nothing waits for: an image that neither an element nor a style requested. */
function isIcon(hop: ObservedRequest, entry: ResourceEntry | null): boolean {
  return hop.type === 'image' && hop.frameId === 0 && (!entry || entry.initiatorType === 'other');
}

export const isFrameEntry = ({ initiatorType }: ResourceEntry): boolean => /^i?frame$/.test(initiatorType);

/** Whether the frame's document was requested: not one that its parent wrote, such as `about:srcdoc`. */
const isOfWeb = ({ navigation }: FrameReport): boolean =>
  navigation !== null && /^https?:/.test(navigation.name);

/** A frame's clock begins with its navigation, and its parent's entry begins then too: so long before or after that, at most, milliseconds. */
const NAVIGATION_TOLERANCE_MS = 50;

/** Finds the frames whose documents entries of their parents are: by the URL, and where redirects hide it, by when they began. */
function findDocuments(
  listed: readonly { frame: FrameReport; entry: FrameResource }[],
  frames: readonly FrameReport[],
): Map<FrameResource, FrameReport> {
  const found = new Map<FrameResource, FrameReport>();
  const left = new Set(frames);
  const entries = listed.filter(({ entry }) => isFrameEntry(entry));
  const assign = (entry: FrameResource, document: FrameReport | undefined) => {
    if (!document) return;
    found.set(entry, document);
    left.delete(document);
  };
  for (const { entry } of entries) {
    const url = withoutFragment(entry.name);
    assign(
      entry,
      [...left].find(({ navigation }) => navigation && withoutFragment(navigation.name) === url),
    );
  }
  for (const { frame, entry } of entries.filter((each) => !found.has(each.entry))) {
    const beganMs = (one: FrameReport) => one.timeOrigin - frame.timeOrigin;
    const apartMs = (one: FrameReport) => Math.abs(beganMs(one) - entry.startTime);
    // What began after the response is another document, to which a script of the first one led.
    const possible = [...left].filter(
      (one) => isOfWeb(one) && apartMs(one) < NAVIGATION_TOLERANCE_MS && beganMs(one) < entry.responseEnd,
    );
    assign(entry, possible.sort((a, b) => apartMs(a) - apartMs(b))[0]);
  }
  return found;
}

function reachedNetwork(request: ObservedRequest): boolean {
  return request.sent || request.status !== 0 || request.endedAt === null;
}

/**
 * Leaves out requests that the previous document made after the navigation had started:
 * those of documents that are neither the page's nor of one of its frames.
 */
function selectOwnRequests({ requests, documentId }: LoadObservation): ObservedRequest[] {
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

/** A frame with its own timing of the navigation that led to it. */
function documentFrame(frame: FrameReport | undefined) {
  return frame?.navigation ? { frame, entry: frame.navigation } : null;
}

/** Converts an entry to the page's clock. 0 stays 0, because it stands for a withheld time. */
function shiftEntry(entry: ResourceEntry, byMs: number): ResourceEntry {
  if (byMs === 0) return entry;
  const move = (ms: number) => (ms > 0 ? ms + byMs : 0);
  return {
    ...entry,
    startTime: entry.startTime + byMs,
    workerStart: move(entry.workerStart),
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

function recordedFields(
  request: JoinedRequest,
  { failed, isWorkerFetch }: { failed: ReadonlySet<string>; isWorkerFetch: boolean },
): Omit<RecordedRequest, 'id' | 'initiator'> {
  const { observed, entry } = request;
  // Without Timing-Allow-Origin the page's timings withhold everything between start and end.
  const hasDetails = entry !== null && entry.responseStart > 0;
  // Sizes of a document that is still coming are not known.
  const isComing = entry?.responseEnd === 0;
  const hasSizes = hasDetails && !isComing && !isWorkerFetch;
  // The page before had it transferred: the entry has its bytes, but not when they came.
  const isPrefetched = entry?.deliveryType === 'navigational-prefetch';
  const isFailed =
    observed === null && (hasFailed(request) || (!hasDetails && failed.has(withoutFragment(entry!.name))));
  const isCached = observed
    ? observed.fromCache || entry?.deliveryType === 'cache'
    : entry !== null && hasTimings(entry) && !isComing && !isFailed && entry.transferSize === 0;
  const fromCache = !isWorkerFetch && (isPrefetched || isCached);
  const headersMs = isWorkerFetch ? entry!.responseStart : fromCache ? null : request.headersMs;
  const wireBody = fromCache ? 0 : (observed?.contentLength ?? null);
  return {
    url: withoutFragment(observed?.url ?? entry!.name),
    method: observed?.method ?? 'GET',
    type: request.type,
    status: observed ? statusOf(observed, hasDetails) : isFailed ? 0 : entry!.responseStatus || 200,
    protocol: parseProtocol(entry?.nextHopProtocol),
    startMs: request.startMs,
    endMs: request.endMs,
    phases: hasDetails && !isWorkerFetch ? phasesOf(entry) : withheldPhases(request, headersMs),
    transferBytes: hasSizes && !isPrefetched ? entry.transferSize : fromCache ? 0 : null,
    bodyBytes: hasSizes && !fromCache ? entry.encodedBodySize : wireBody,
    decodedBytes: hasSizes || (entry && entry.decodedBodySize > 0) ? entry.decodedBodySize : null,
    credentials: observed?.credentials ?? null,
    renderBlocking: entry?.renderBlockingStatus ? entry.renderBlockingStatus === 'blocking' : null,
    fromCache,
    connectionId: null,
    remoteIp: observed?.remoteIp ?? null,
    offersH3: observed?.offersH3 ?? null,
  };
}

/**
 * Whether the timings of a document show that a request to its own server failed: Firefox tells times of it. In Chromium, and without times, it looks like a
 * redirect to another site. A service worker may answer with what the page may not read.
 */
function hasFailed({ entry, frame }: JoinedRequest): boolean {
  if (entry === null || frame === null || isFrameEntry(entry) || entry.workerStart > 0) return false;
  const isFirefox = entry.renderBlockingStatus === '';
  return isFirefox && entry.responseStart > 0 && showsAnswer(frame, entry) && isUnanswered(entry);
}

/** The end of a request may have come while the worker was stopped: the page's timings then show that there was a response. */
function statusOf({ endedAt, status }: ObservedRequest, hasDetails: boolean): number {
  if (endedAt !== null) return status;
  return hasDetails ? status || 200 : 0;
}

/** The phases of a request of which no more is known than when the headers of its response came; null where that is not known either. */
function withheldPhases({ startMs, endMs }: JoinedRequest, headersMs: number | null): RequestPhases {
  return {
    ...NO_PHASES,
    responseStartMs: headersMs === null ? null : Math.min(endMs, Math.max(startMs, headersMs)),
  };
}

/** On a reused connection the browser repeats fetchStart for the phases that did not occur. */
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
      return typeOfLink(entry);
    default:
      return 'other';
  }
}

/** Type of what a `link` element requested, which Resource Timing does not name: by the extension, and by whether painting waits for it. */
function typeOfLink({ name, renderBlockingStatus }: ResourceEntry): ResourceType {
  const { pathname } = new URL(name);
  if (/\.css$/i.test(pathname)) return 'style';
  if (/\.(woff2?|ttf|otf)$/i.test(pathname)) return 'font';
  if (/\.m?js$/i.test(pathname)) return 'script';
  if (/\.(png|jpe?g|gif|webp|avif|svg)$/i.test(pathname)) return 'image';
  return renderBlockingStatus === 'blocking' ? 'style' : 'other';
}

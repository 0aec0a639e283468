import {
  groupBy,
  NO_PHASES,
  offersH3,
  PROTOCOL_NAME,
  type Recording,
  type Verification,
} from '@hopwise/contract';
import { InputError, placeOf, shown } from '../util/input-error.ts';
import { originOf } from '../util/url.ts';
import { isCached, isFetchedByWorker, isPushed, mayBeFetchedByWorker } from './har/cached.ts';
import { connectionNames } from './har/connection.ts';
import { forgetConstantVersion } from './har/constant-version.ts';
import { type Conventions, conventionsOf } from './har/conventions.ts';
import { withPaddedFractions } from './har/dates.ts';
import { withEarlyOpenings } from './har/early-openings.ts';
import { withoutEndlessPhases } from './har/endless-phases.ts';
import type { HarForm } from './har/forms.ts';
import { mendTurns } from './har/h1-turns.ts';
import { headerOf } from './har/headers.ts';
import { linkInitiators } from './har/initiators.ts';
import { inOrderOfIssue } from './har/issue-order.ts';
import { mendLateSending } from './har/late-sending.ts';
import { loadEnd } from './har/load-end.ts';
import { type Navigation, nameDocuments, navigationOf } from './har/navigation.ts';
import { timed } from './har/navigations.ts';
import { ownEntries } from './har/own-entries.ts';
import { beganAfter, beginningOf, fromShowing } from './har/page-beginning.ts';
import type { ReadOptions } from './har/page-choice.ts';
import { type PageClock, pageClock } from './har/page-clock.ts';
import { type PageLoad, takeLoad } from './har/page-loads.ts';
import { harPhases, sendingMs, webPageTestPhases } from './har/phases.ts';
import { pairPreflights } from './har/preflights.ts';
import { type Entry, isRedirect, parseHar, statusOf } from './har/schema.ts';
import { sizesOf } from './har/sizes.ts';
import { withMilliseconds } from './har/time-units.ts';
import { typeOf } from './har/types.ts';
import { withUnanswered } from './har/unanswered.ts';
import { type AssumedProtocol, fillUnnamedProtocols } from './har/unnamed-protocols.ts';
import { urlKey } from './har/urls.ts';
import { lengthOf, numberOf } from './har/values.ts';
import { loadRequests, SWITCHED } from './load-requests.ts';
import { countFailures, failedProtocol } from './protocol-failures.ts';
import { parseProtocol } from './protocol-name.ts';
import { finishRequests, MAX_LOAD_MS, type RequestDraft, refuseTooMany } from './requests/draft.ts';
import type { DroppedEntries } from './usage-note.ts';

/** Statuses from this one on are of errors (RFC 9110 section 15). */
const FIRST_ERROR = 400;

/** A recording with notes on how it was read. */
export interface ReadRecording {
  /** The page load. */
  recording: Recording;
  /** For the user, each without a full stop: which of several pages was taken, how many requests a prediction leaves out. */
  notes: string[];
  /** The load's verification, where the input is an export of the extension with one. */
  verification?: Verification;
}

/**
 * Reads a HAR 1.2 in the dialect of its recorder (`docs/recorders.md`). Of several page loads in one file the chosen one is taken, else
 * the first that has requests.
 *
 * @returns with how many entries of the file are not in the recording
 * @throws InputError naming the place of the first thing that cannot be used
 */
export function readHar(
  form: HarForm,
  options: ReadOptions = {},
): ReadRecording & { dropped: DroppedEntries } {
  const { log: parsed, unusable } = parseHar(form);
  const { copies, notOfPages, entries } = ownEntries(parsed.entries, parsed.pages ?? []);
  const timely = withoutEndlessPhases(withMilliseconds(withPaddedFractions({ ...parsed, entries })));
  const log = withUnanswered(withEarlyOpenings(timely));
  const place = placeOf(form.entriesPlace);
  const notes: string[] = [];
  const load = takeLoad(log, options, notes);
  if (load.ordered.length === 0) {
    const onlyOthers = entries.length === 0 && notOfPages > 0;
    const got = onlyOthers ? "only a proxy's tunnels or a browser's own checks" : 'none';
    throw new InputError(`${place}: expected requests, got ${got}`);
  }
  // Checked before any step that takes time for each request.
  refuseTooMany(load.ordered.filter(({ entry }) => originOf(entry.request.url) !== null).length, place);
  const creator = log.creator?.name;
  const navigation = navigationOf(load.ordered, load.page, creator);
  const conventions = conventionsOf(log, navigation.entries);
  const isFirst = load.navigation === 0;
  const hasDocument = isFirst && navigation.document === 'recorded';
  const ordered = timed(navigation.entries);
  const beginning = hasDocument ? beginningOf(load.page, ordered) : 'navigation';
  // A page's times tell nothing of transfers that are no part of its load, nor by a clock of which nothing is known.
  const isUntimed =
    navigation.document === 'none' || (navigation.document === 'missing' && beganAfter(load.page, ordered));
  const clock = pageClock(isUntimed ? undefined : load.page, creator, {
    firstMs: issueTime(navigation.entries[0]!, conventions),
    isFirst,
    endsAt: load.endsAt,
    isOtherClock: beginning === 'other-clock',
  });
  const { drafts, entryOf, typed, document, preflights, isVersionForgotten, assumedProtocol } = draftsOf(
    load,
    navigation,
    clock,
    conventions,
  );
  refuseUntimed(drafts, place);
  const answer = navigation.document === 'recorded' ? document : null;
  const end = loadEnd(drafts, answer, clock.times, creator, missingOf(navigation, clock.times.pltMs));
  clipToDay(end.kept, end.times.pltMs !== null);
  linkInitiators({
    ordered: end.kept,
    document,
    parsedMs: end.times.domContentLoadedMs,
    entryOf,
    typed,
    preflights,
  });
  const requests = finishRequests(end.kept, place);
  const page =
    requests.find(({ type, status }) => type === 'document' && !isRedirect(status)) ?? requests[0]!;
  const sentOn = navigation.document === 'recorded' ? load.sentOn : null;
  const origins = new Set(requests.map(({ url }) => originOf(url)));
  const loadedMs = clock.startMs + (end.times.pltMs ?? Number.POSITIVE_INFINITY);
  // A stream that breaks later delays nothing.
  const endedInTime = (entry: Entry) => Date.parse(entry.startedDateTime) + lengthOf(entry.time) <= loadedMs;
  // A server that asks for a password is asked again.
  const isError = requests.every(({ url, status }) => url !== page.url || status >= FIRST_ERROR);
  if (navigation.document === 'recorded' && isError)
    notes.push(`the page was answered with status ${page.status}: the load is that of an error page`);
  if (sentOn !== null)
    notes.push(`a script sent the visitor on to ${shown(sentOn)}: the load is the whole way`);
  const fetched: Recording = {
    format: 'hopwise-recording',
    version: 1,
    url: navigation.url ?? sentOn ?? page.url,
    recordedAt: new Date(clock.startMs).toISOString(),
    browser: [log.browser?.name, log.browser?.version].filter(Boolean).join(' '),
    ...end.times,
    ...missingOf(navigation, end.times.pltMs),
    ...(navigation.entries.some((entry) => endedInTime(entry) && isOfOtherNetwork(entry)) && {
      networkChanged: true,
    }),
    // Also of earlier attempts at the page: one that fails is often followed by one over another protocol.
    ...countFailures(
      log.entries
        .filter((entry) => endedInTime(entry) && origins.has(originOf(entry.request.url)))
        .map(failureOf),
    ),
    ...(load.page?._quicPackets && { quicPackets: load.page._quicPackets }),
    requests,
  };
  const isAhead = beginning === 'shown' && fetched.pltMs !== null;
  const recording = isAhead ? fromShowing(fetched, -clock.offsetMs) : fetched;
  if (isAhead) notes.push('the page was fetched ahead: its load is timed from when it was shown');
  if (isVersionForgotten || assumedProtocol !== null)
    notes.push(protocolNote(isVersionForgotten, assumedProtocol));
  const lacking = lackNote(recording, navigation, end.refuted);
  if (lacking !== null) notes.push(lacking);
  return {
    recording,
    notes,
    dropped: {
      unusable,
      copies,
      notOfPages,
      otherPages: log.entries.length - load.ordered.length,
      beforeNavigation: load.ordered.length - navigation.entries.length,
      afterEnd: drafts.length - end.kept.length,
      otherSchemes: end.kept.length - requests.length,
    },
  };
}

/**
 * Refuses requests none of which took any time: what such a file names as their starts is when it was written.
 *
 * @throws InputError
 */
function refuseUntimed(drafts: readonly RequestDraft[], place: string): void {
  const answered = drafts.filter(({ fromCache, status }) => !fromCache && status > 0);
  if (answered.length < 2 || answered.some(({ startMs, endMs }) => endMs > startMs)) return;
  throw new InputError(`${place}: expected times of requests, got 0 ms for all`);
}

/**
 * Clips the times of requests that go on for longer than a day: streams of events, and, after a load whose end is known, what an open
 * page goes on asking for.
 */
function clipToDay(drafts: readonly RequestDraft[], isEndKnown: boolean): void {
  const clipped = (ms: number) => Math.min(ms, MAX_LOAD_MS);
  for (const draft of drafts) {
    if (draft.endMs <= MAX_LOAD_MS || (draft.startMs > MAX_LOAD_MS && !isEndKnown)) continue;
    const phases = Object.entries(draft.phases).map(([name, ms]) => [name, ms === null ? null : clipped(ms)]);
    draft.phases = Object.fromEntries(phases);
    draft.startMs = clipped(draft.startMs);
    draft.endMs = clipped(draft.endMs);
  }
}

function missingOf({ document }: Navigation, pltMs: number | null): Pick<Recording, 'missing'> {
  if (document === 'none') return { missing: 'navigation' };
  return pltMs === null ? { missing: 'load-event' } : {};
}

/** Says that a file does not know its protocols, and what stands for them. */
function protocolNote(isVersionForgotten: boolean, assumed: AssumedProtocol | null): string {
  const unnamed = assumed?.requests === 1 ? '1 request' : `${assumed?.requests} requests`;
  const why = isVersionForgotten
    ? 'the file names HTTP/1.1 for every request, but more answers came at once than that allows'
    : `the file names no protocol of ${unnamed}`;
  return `${why}: ${assumed === null ? 'protocols are unknown' : `${PROTOCOL_NAME[assumed.protocol]} is assumed`}`;
}

/** Says what a file lacks of a page load, and what stands for it; null where it lacks nothing. */
function lackNote(recording: Recording, { document }: Navigation, refuted: string | null): string | null {
  if (document === 'none')
    return 'no navigation in the file: its requests are a set of transfers, not a page load';
  const missing = document === 'missing' ? ["the page's document is not in the file"] : [];
  if (recording.pltMs === null) {
    const guessMs = Math.round(loadRequests(recording).loadMs);
    const why = refuted === null ? 'no load event in the file' : `the load event in the file ${refuted}`;
    missing.push(
      `${why}: the load is guessed to end with the last response that could hold it up, after ${guessMs} ms`,
    );
  }
  return missing.length === 0 ? null : missing.join('; ');
}

/** When a request was issued, Unix time in milliseconds. */
function issueTime({ startedDateTime, timings }: Entry, { queueing }: Conventions): number {
  const queuedMs = queueing === 'before-start' ? Math.max(0, numberOf(timings?._queued) ?? 0) : 0;
  return Date.parse(startedDateTime) - queuedMs;
}

interface Drafts {
  /** In order of start. */
  drafts: RequestDraft[];
  entryOf: ReadonlyMap<RequestDraft, Entry>;
  /** Those whose type the recorder states. */
  typed: ReadonlySet<RequestDraft>;
  /** What answered the navigation, or what stands for it. */
  document: RequestDraft;
  /** By the requests that they let through. */
  preflights: ReadonlyMap<RequestDraft, RequestDraft>;
  /** Whether the file names HTTP/1.1 where it cannot have been. */
  isVersionForgotten: boolean;
  /** What was assumed of requests over TLS whose protocol the file does not name; null where nothing was. */
  assumedProtocol: AssumedProtocol | null;
}

function draftsOf(
  load: PageLoad,
  navigation: Navigation,
  clock: PageClock,
  conventions: Conventions,
): Drafts {
  const { entries } = navigation;
  const connections = connectionNames(entries);
  const entryOf = new Map<RequestDraft, Entry>();
  for (const [index, entry] of entries.entries()) {
    entryOf.set(draftOf(entry, clock, connections[index]!, conventions), entry);
  }
  joinWorkersRequests(entryOf);
  mendLateSending(entryOf);
  const isVersionForgotten = forgetConstantVersion([...entryOf.keys()]);
  const assumedProtocol = fillUnnamedProtocols(entryOf, clock.startMs);
  mendTurns([...entryOf.keys()]);
  takeFromWorkers(entryOf);
  const preflights = pairPreflights([...entryOf.keys()]);
  const placeOf = new Map(load.fileOrder.map((entry, place) => [entry, place]));
  const place = (draft: RequestDraft) => placeOf.get(entryOf.get(draft)!)!;
  const drafts = inOrderOfIssue([...entryOf.keys()].sort((a, b) => place(a) - place(b)));
  const typed = typedOf(entryOf);
  const document = nameDocuments(drafts, {
    entryOf,
    typed,
    hasDocument: navigation.document === 'recorded',
    hasLoadEvent: clock.times.pltMs !== null,
  });
  return { drafts, entryOf, typed, document, preflights, isVersionForgotten, assumedProtocol };
}

/** Whether the browser ended a request because it changed networks, went offline or the machine was put to sleep (Chromium's `net_error_list.h`). */
const isOfOtherNetwork = ({ response }: Entry): boolean =>
  /^(net::)?ERR_(NETWORK_CHANGED|INTERNET_DISCONNECTED|NETWORK_IO_SUSPENDED)$/.test(
    String(response?._error ?? ''),
  );

/** The protocol because of which a request failed, unless it is a beacon. Answers that were cut off have a status, too. */
function failureOf(entry: Entry): ReturnType<typeof failedProtocol> {
  const error = entry.response?._error;
  return typeof error === 'string' && typeOf(entry).type !== 'beacon' ? failedProtocol(error) : null;
}

/** The drafts whose type the recorder states. */
function typedOf(entryOf: ReadonlyMap<RequestDraft, Entry>): Set<RequestDraft> {
  const typed = [...entryOf].filter(([, entry]) => typeOf(entry).named);
  return new Set(typed.map(([draft]) => draft));
}

function draftOf(
  entry: Entry,
  { startMs: navigationMs, offsetMs }: PageClock,
  connectionId: string | null,
  conventions: Conventions,
): RequestDraft {
  const { request } = entry;
  const startedMs = Date.parse(entry.startedDateTime) - navigationMs;
  const { startMs, endMs, phases } =
    webPageTestPhases(entry, offsetMs) ?? harPhases(entry, startedMs, conventions);
  const sizes = sizesOf(entry, conventions);
  const fromCache = isCached(entry, conventions);
  const requestBodyBytes = requestBodyBytesOf(entry);
  // A pushed response was not requested.
  if (isPushed(entry)) phases.requestStartMs = null;
  return {
    url: request.url,
    method: (request.method || 'GET').toUpperCase(),
    type: typeOf(entry).type,
    status: isSocket(entry) ? SWITCHED : statusOf(entry),
    protocol: fromCache ? null : protocolOf(entry),
    startMs,
    endMs,
    phases: fromCache ? { ...NO_PHASES } : phases,
    transferBytes: fromCache ? 0 : sizes.transferBytes,
    bodyBytes: fromCache ? 0 : sizes.bodyBytes,
    decodedBytes: sizes.decodedBytes,
    requestBodyBytes,
    ...(requestBodyBytes && !fromCache && sendingMs(entry) > 0 && { requestBodyMs: sendingMs(entry) }),
    initiator: { kind: 'other', request: null, source: 'inferred' },
    renderBlocking:
      entry._renderBlocking == null ? null : /^(in_body_parser_)?blocking$/.test(entry._renderBlocking),
    fromCache,
    connectionId: fromCache ? null : connectionId,
    remoteIp: (entry.serverIPAddress || entry._ip_addr || '').replace(/^\[|\]$/g, '') || null,
    urgency: urgencyOf(entry._priority),
    offersH3: offersH3Of(entry),
  };
}

/**
 * A response that a service worker fetched for the page came over the network in a request of the worker's. Where the
 * recording has only the page's request, that one is taken to have come over the network.
 */
function takeFromWorkers(entryOf: ReadonlyMap<RequestDraft, Entry>): void {
  const fetched = new Set<string>();
  for (const draft of entryOf.keys()) if (!draft.fromCache) fetched.add(urlKey(draft.url));
  for (const [draft, entry] of entryOf) {
    if (!draft.fromCache || !isFetchedByWorker(entry) || fetched.has(urlKey(draft.url))) continue;
    Object.assign(draft, { fromCache: false, transferBytes: null, bodyBytes: null });
  }
}

/**
 * Joins what a service worker fetched for a page with the page's own request for it, where the recorder marks pages' requests that a worker
 * answered (DevTools), or names the frames of pages' requests alone (Playwright): the page waited for it, as for any request of its type.
 * What was answered after the page's request had ended only renews the worker's cache.
 *
 * @param entryOf from which requests of workers are removed
 */
function joinWorkersRequests(entryOf: Map<RequestDraft, Entry>): void {
  const isOfPage = (entry: Entry) => typeof entry._frameref === 'string' || mayBeFetchedByWorker(entry);
  const others = [...entryOf].filter(([{ type }, entry]) => type === 'fetch' && !isOfPage(entry));
  const byUrl = groupBy(others, ([{ url }]) => urlKey(url));
  for (const [draft, entry] of [...entryOf]) {
    if (!isOfPage(entry)) continue;
    const [fetched] =
      byUrl
        .get(urlKey(draft.url))
        ?.find(
          ([own]) =>
            entryOf.has(own) &&
            own.startMs >= draft.startMs &&
            (own.phases.responseStartMs ?? own.startMs) < draft.endMs,
        ) ?? [];
    if (fetched === undefined) continue;
    const { protocol, phases, transferBytes, bodyBytes, fromCache, connectionId, remoteIp } = fetched;
    Object.assign(draft, { protocol, phases, transferBytes, bodyBytes, fromCache, connectionId, remoteIp });
    entryOf.delete(fetched);
  }
}

/** Whether an entry is named a WebSocket that was opened: over HTTP/2 its handshake has another answer (RFC 8441). */
const isSocket = (entry: Entry): boolean =>
  /^websocket$/i.test(entry._resourceType ?? '') && statusOf(entry) > 0;

/** WebPageTest writes `1.1` where others write `HTTP/1.1`. */
function protocolOf(entry: Entry): RequestDraft['protocol'] {
  const { _protocol, request, response } = entry;
  // Some recorders name a protocol for requests that never left.
  if (statusOf(entry) === 0 && lengthOf(entry.timings?.wait) === 0 && lengthOf(response?._transferSize) === 0)
    return null;
  for (const name of [_protocol, response?.httpVersion, request.httpVersion]) {
    const protocol = parseProtocol(name && /^\d/.test(name) ? `http/${name}` : name);
    if (protocol === 'h1') return protocolInHeaders(entry) ?? protocol;
    if (protocol !== null) return protocol;
  }
  return protocolInHeaders(entry);
}

/** The protocol that headers show where a recorder writes none, or HTTP/1.1 for every request: Firefox adds it to a response, pseudo-headers begin with a colon. */
function protocolInHeaders({ request, response }: Entry): RequestDraft['protocol'] {
  if (headerOf(response, 'x-firefox-http3') !== null) return 'h3';
  if (headerOf(response, 'x-firefox-spdy') !== null) return 'h2';
  const headers = [...(request.headers ?? []), ...(response?.headers ?? [])];
  return headers.some(({ name }) => name.startsWith(':')) ? 'h2' : null;
}

function requestBodyBytesOf({ request }: Entry): number | null {
  const bytes = numberOf(request.bodySize);
  return bytes === null || bytes < 0 ? null : Math.round(bytes);
}

/** DevTools' and WebPageTest's (net stack) names, as Chromium puts them in the `Priority` header. */
const URGENCY = new Map([
  ['veryhigh', 0],
  ['highest', 0],
  ['high', 1],
  ['medium', 2],
  ['low', 3],
  ['lowest', 3],
  ['verylow', 4],
  ['idle', 4],
]);

function urgencyOf(priority: unknown): number | null {
  return typeof priority === 'string' ? (URGENCY.get(priority.toLowerCase()) ?? null) : null;
}

/** When RFC 9114 was published. Browsers spoke drafts of HTTP/3 before, and have given them up since. */
const RFC_9114_AT = Date.parse('2022-06-06');

function offersH3Of({ response, startedDateTime }: Entry): boolean | null {
  const headers = response?.headers;
  if (!headers || headers.length === 0) return null;
  const knowsDrafts = Date.parse(startedDateTime) < RFC_9114_AT;
  return headers.some(
    ({ name, value }) => name === 'alt-svc' && typeof value === 'string' && offersH3(value, knowsDrafts),
  );
}

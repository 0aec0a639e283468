import type { Recording, Verification } from '@hopwise/contract';
import { InputError, placeOf } from '../util/input-error.ts';
import { originOf } from '../util/url.ts';
import { isCached, isFetchedByWorker, isPushed } from './har/cached.ts';
import { connectionNames } from './har/connection.ts';
import { type Conventions, conventionsOf } from './har/conventions.ts';
import type { HarForm } from './har/forms.ts';
import { linkInitiators } from './har/initiators.ts';
import { inOrderOfIssue } from './har/issue-order.ts';
import { fromNavigation, nameDocuments } from './har/navigation.ts';
import { firstPage } from './har/pages.ts';
import { harPhases, noPhases, webPageTestPhases } from './har/phases.ts';
import { isRedirect } from './har/redirect.ts';
import { type Entry, type Page, parseHar, statusOf } from './har/schema.ts';
import { sizesOf } from './har/sizes.ts';
import { typeOf } from './har/types.ts';
import { urlKey } from './har/urls.ts';
import { numberOf } from './har/values.ts';
import { parseProtocol } from './protocol-name.ts';
import { finishRequests, type RequestDraft, refuseTooMany } from './requests/draft.ts';
import type { DroppedEntries } from './usage-note.ts';

/** A recording with notes on how it was read. */
export interface ReadRecording {
  /** The page load. */
  recording: Recording;
  /** For the user, each without a full stop: which of several pages was taken, how many requests a prediction leaves out. */
  notes: string[];
  /** Of the load, where the input is an export of the extension with one. */
  verification?: Verification;
}

/**
 * Reads a HAR 1.2 (plain, DevTools', chrome-har's, WebPageTest's or Firefox's). Of several pages in one file the first
 * that has requests is taken.
 *
 * @returns with how many entries of the file are not in the recording
 * @throws InputError naming the place of the first thing that cannot be used
 */
export function readHar(form: HarForm): ReadRecording & { dropped: DroppedEntries } {
  const log = parseHar(form);
  const place = placeOf(form.entriesPlace);
  const notes: string[] = [];
  const { page, entries: all } = firstPage(log, notes);
  if (all.length === 0) throw new InputError(`${place}: expected requests, got none`);
  // Checked before any step that takes time for each request.
  refuseTooMany(all.filter(({ request }) => originOf(request.url) !== null).length, place);
  const entries = fromNavigation(all);

  const conventions = conventionsOf(log, entries);
  const firstStart = issueTime(entries[0]!, conventions);
  const pageStart = page?.startedDateTime == null ? Number.NaN : Date.parse(page.startedDateTime);
  // A page that begins long before or after its first request was timed by another clock.
  const startOfPage =
    Math.abs(firstStart - pageStart) < 60_000 ? Math.min(pageStart, firstStart) : firstStart;
  const times = pageTimes(page);
  const drafts = draftsOf(entries, all, startOfPage, conventions, times.domContentLoadedMs);
  const requests = finishRequests(drafts, place);
  const document = requests.find(({ type, status }) => type === 'document' && !isRedirect(status));
  return {
    recording: {
      format: 'hopwise-recording',
      version: 1,
      url: (document ?? requests[0]!).url,
      recordedAt: new Date(startOfPage).toISOString(),
      browser: [log.browser?.name, log.browser?.version].filter(Boolean).join(' '),
      ...times,
      requests,
    },
    notes,
    dropped: {
      otherPages: log.entries.length - all.length,
      beforeNavigation: all.length - entries.length,
      otherSchemes: drafts.length - requests.length,
    },
  };
}

/** When a request was issued, Unix time in milliseconds. */
function issueTime({ startedDateTime, timings }: Entry, { queueing }: Conventions): number {
  const queuedMs = queueing === 'before-start' ? Math.max(0, numberOf(timings?._queued) ?? 0) : 0;
  return Date.parse(startedDateTime) - queuedMs;
}

/** @param fileOrder the entries and others, as the file has them */
function draftsOf(
  entries: readonly Entry[],
  fileOrder: readonly Entry[],
  startOfPage: number,
  conventions: Conventions,
  parsedMs: number | null,
): RequestDraft[] {
  const connections = connectionNames(entries);
  const entryOf = new Map<RequestDraft, Entry>();
  const typed = new Set<RequestDraft>();
  for (const [index, entry] of entries.entries()) {
    const draft = draftOf(
      entry,
      Date.parse(entry.startedDateTime) - startOfPage,
      connections[index]!,
      conventions,
    );
    entryOf.set(draft, entry);
    if (typeOf(entry).named) typed.add(draft);
  }
  takeFromWorkers(entryOf);
  const placeOf = new Map(fileOrder.map((entry, place) => [entry, place]));
  const place = (draft: RequestDraft) => placeOf.get(entryOf.get(draft)!)!;
  const ordered = inOrderOfIssue([...entryOf.keys()].sort((a, b) => place(a) - place(b)));
  linkInitiators({ ordered, document: nameDocuments(ordered), parsedMs, entryOf, typed });
  return ordered;
}

function draftOf(
  entry: Entry,
  startedMs: number,
  connectionId: string | null,
  conventions: Conventions,
): RequestDraft {
  const { request, response } = entry;
  const { startMs, endMs, phases } = webPageTestPhases(entry) ?? harPhases(entry, startedMs, conventions);
  const sizes = sizesOf(entry, conventions.bodyHasHeaders);
  const fromCache = isCached(entry, conventions.bodyHasHeaders);
  // A pushed response was not requested.
  if (isPushed(entry)) phases.requestStartMs = null;
  return {
    url: request.url,
    method: (request.method || 'GET').toUpperCase(),
    type: typeOf(entry).type,
    status: statusOf(entry),
    protocol: fromCache ? null : protocolOf(entry),
    startMs,
    endMs,
    phases: fromCache ? noPhases() : phases,
    transferBytes: fromCache ? 0 : sizes.transferBytes,
    bodyBytes: fromCache ? 0 : sizes.bodyBytes,
    decodedBytes: sizes.decodedBytes,
    requestBodyBytes: requestBodyBytesOf(entry),
    initiator: { kind: 'other', request: null, source: 'inferred' },
    renderBlocking:
      entry._renderBlocking == null ? null : /^(in_body_parser_)?blocking$/.test(entry._renderBlocking),
    fromCache,
    connectionId: fromCache ? null : connectionId,
    remoteIp: (entry.serverIPAddress || entry._ip_addr || '').replace(/^\[|\]$/g, '') || null,
    urgency: urgencyOf(entry._priority),
    offersH3: offersH3(response?.headers),
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

/** WebPageTest writes `1.1` where others write `HTTP/1.1`. */
function protocolOf({ _protocol, request, response }: Entry): RequestDraft['protocol'] {
  for (const name of [_protocol, response?.httpVersion, request.httpVersion]) {
    const protocol = parseProtocol(name && /^\d/.test(name) ? `http/${name}` : name);
    if (protocol !== null) return protocol;
  }
  return null;
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

function offersH3(headers: Entry['request']['headers']): boolean | null {
  if (!headers || headers.length === 0) return null;
  return headers.some(
    ({ name, value }) =>
      name.toLowerCase() === 'alt-svc' && typeof value === 'string' && /\bh3\b/.test(value),
  );
}

function pageTimes(
  page: Page | undefined,
): Pick<Recording, 'pltMs' | 'domContentLoadedMs' | 'firstContentfulPaintMs' | 'largestContentfulPaintMs'> {
  const timings = page?.pageTimings;
  return {
    pltMs: firstPositive(timings?.onLoad, page?._loadTime),
    domContentLoadedMs: firstPositive(timings?.onContentLoad, page?._domContentLoadedEventStart),
    firstContentfulPaintMs: firstPositive(
      timings?._firstContentfulPaint,
      page?._firstContentfulPaint,
      timings?._firstPaint,
      timings?._startRender,
    ),
    largestContentfulPaintMs: firstPositive(
      timings?._largestContentfulPaint,
      page?.['_chromeUserTiming.LargestContentfulPaint'],
    ),
  };
}

function firstPositive(...values: (number | string | null | undefined)[]): number | null {
  return values.map(numberOf).find((value) => value !== null && value > 0) ?? null;
}

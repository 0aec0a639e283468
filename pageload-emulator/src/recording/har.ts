import { parseProtocol } from '../protocol.ts';
import { finishRequests, type RequestDraft } from './draft.ts';
import { linkInitiators } from './har/initiators.ts';
import { firstPage } from './har/pages.ts';
import { harPhases, webPageTestPhases } from './har/phases.ts';
import { isRedirect } from './har/redirect.ts';
import { type Entry, type Har, parseHar } from './har/schema.ts';
import { numberOf } from './har/values.ts';
import { InputError } from './input-error.ts';
import type { Recording } from './recording.ts';
import { resourceType } from './resource-type.ts';

/** A recording and what its reader should know of how it was read. */
export interface ReadRecording {
  recording: Recording;
  notes: string[];
}

/**
 * Reads a HAR 1.2 (plain, Chromium's, chrome-har's, WebPageTest's or Firefox's). Of several pages in
 * one file the first that has requests is taken.
 *
 * @param input parsed JSON
 * @throws InputError naming the place of the first thing that is not usable
 */
export function readHar(input: unknown): ReadRecording {
  const log = parseHar(input);
  const notes: string[] = [];
  const { page, entries } = firstPage(log, notes);
  if (entries.length === 0) throw new InputError('log.entries: expected requests, got none');

  const starts = entries.map((entry) => Date.parse(entry.startedDateTime));
  const pageStart = page?.startedDateTime === undefined ? Number.NaN : Date.parse(page.startedDateTime);
  const firstStart = starts.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  // A page that begins long before or after its first request was stamped by another clock.
  const startOfPage =
    Math.abs(firstStart - pageStart) < 60_000 ? Math.min(pageStart, firstStart) : firstStart;

  const sslApart = /firefox/i.test(`${log.creator?.name} ${log.browser?.name}`);
  const drafts = entries.map((entry, index) => draftOf(entry, starts[index]! - startOfPage, sslApart));
  linkInitiators(entries, drafts);
  nameDocuments(drafts);

  const requests = finishRequests(drafts, 'log.entries');
  const timings = page?.pageTimings;
  const document = requests.find(({ type, status }) => type === 'document' && !isRedirect(status));
  return {
    recording: {
      format: 'hopwise-recording',
      version: 1,
      url: (document ?? requests[0]!).url,
      recordedAt: new Date(startOfPage).toISOString(),
      browser: browserOf(log),
      pltMs: positive(timings?.onLoad),
      domContentLoadedMs: positive(timings?.onContentLoad),
      firstContentfulPaintMs:
        positive(timings?._firstContentfulPaint) ??
        positive(timings?._firstPaint) ??
        positive(timings?._startRender),
      largestContentfulPaintMs: positive(timings?._largestContentfulPaint),
      requests,
    },
    notes,
  };
}

function browserOf(log: Har): string {
  const { browser } = log;
  return [browser?.name, browser?.version].filter(Boolean).join(' ');
}

function draftOf(entry: Entry, startedMs: number, sslApart: boolean): RequestDraft {
  const { response } = entry;
  const phases = webPageTestPhases(entry) ?? harPhases(entry, startedMs, sslApart);
  const status = Math.max(0, Math.trunc(numberOf(response?.status) ?? 0));
  return {
    url: entry.request.url,
    method: (entry.request.method || 'GET').toUpperCase(),
    type: resourceType(
      entry._resourceType ?? null,
      response?.content?.mimeType || entry._contentType || null,
      entry.request.url,
    ),
    status,
    protocol: parseProtocol(entry._protocol) ?? parseProtocol(protocolName(response?.httpVersion)),
    startMs: phases.startMs,
    endMs: phases.endMs,
    phases: phases.phases,
    ...sizesOf(entry),
    initiator: { kind: 'other', request: null, source: 'inferred' },
    renderBlocking:
      entry._renderBlocking == null ? null : /^(in_body_parser_)?blocking$/.test(entry._renderBlocking),
    fromCache: isCached(entry),
    connectionId: connectionOf(entry),
    remoteIp: entry.serverIPAddress || entry._ip_addr || null,
    urgency: urgencyOf(entry._priority),
    offersH3: offersH3(response?.headers),
  };
}

/** WebPageTest writes `1.1` where others write `HTTP/1.1`. */
function protocolName(version: string | null | undefined): string | null {
  if (!version) return null;
  return /^\d/.test(version) ? `http/${version}` : version;
}

function sizesOf(entry: Entry): Pick<RequestDraft, 'transferBytes' | 'bodyBytes' | 'decodedBytes'> {
  const { response } = entry;
  const size = (value: number | string | null | undefined) => {
    const bytes = numberOf(value);
    return bytes === null || bytes < 0 ? null : Math.round(bytes);
  };
  const decodedBytes = size(response?.content?.size);
  const saved = numberOf(response?.content?.compression) ?? 0;
  let bodyBytes = size(response?.bodySize);
  // Recorders that read a body only after decompression write 0 here.
  if ((bodyBytes === null || bodyBytes === 0) && decodedBytes !== null && decodedBytes > 0) {
    bodyBytes = saved > 0 ? Math.max(0, decodedBytes - saved) : null;
  }
  const headersSize = size(response?.headersSize) ?? 0;
  const whole = size(response?._transferSize) || size(entry._bytesIn);
  return {
    transferBytes: whole || (bodyBytes === null ? null : bodyBytes + headersSize),
    bodyBytes,
    decodedBytes,
  };
}

function isCached(entry: Entry): boolean {
  const marks = [entry._fromCache, entry.response?.fromDiskCache];
  return marks.some((mark) => mark === true || (typeof mark === 'string' && mark !== '' && mark !== 'false'));
}

function connectionOf(entry: Entry): string | null {
  // DevTools' `connection` is a port; its id is apart.
  const name = entry._connectionId ?? entry.connection ?? entry._socket ?? null;
  return name === null || name === '' || name === '0' ? null : String(name);
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

/** Tells the page's document from frames and from pages that a script fetched. */
function nameDocuments(drafts: readonly RequestDraft[]): void {
  const ordered = [...drafts].sort((a, b) => a.startMs - b.startMs);
  let navigating = true;
  for (const draft of ordered) {
    if (draft.type !== 'document' && !navigating) continue;
    if (draft.type === 'document' && !navigating) draft.type = 'iframe';
    if (!navigating) continue;
    // The first request and what its redirects lead to.
    draft.type = 'document';
    navigating = isRedirect(draft.status);
  }
}

function positive(value: number | string | null | undefined): number | null {
  const number = numberOf(value);
  return number !== null && number > 0 ? number : null;
}

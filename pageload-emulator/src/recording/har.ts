import * as z from 'zod/mini';
import { parseProtocol } from '../protocol.ts';
import { resolveReference } from '../url.ts';
import { finishRequests, type RequestDraft } from './draft.ts';
import { InputError, inputErrorFrom } from './input-error.ts';
import type { InitiatorKind, Recording, RequestPhases } from './recording.ts';
import { resourceType } from './resource-type.ts';

/** A recording and what its reader should know of how it was read. */
export interface ReadRecording {
  recording: Recording;
  notes: string[];
}

/** No time in milliseconds and no size in bytes of a page load is beyond this. */
const LARGEST = 1e10;
// WebPageTest writes many numbers as strings.
const number = z.optional(
  z.custom<number | string | null>((value) => {
    if (value === null || value === '') return true;
    if (typeof value !== 'number' && (typeof value !== 'string' || value.trim() === '')) return false;
    return Math.abs(Number(value)) <= LARGEST;
  }, 'a number'),
);
const text = z.optional(z.nullable(z.string('a string')));
const label = z.optional(
  z.custom<string | number | null>(
    (value) => value === null || typeof value === 'string' || typeof value === 'number',
    'a string or a number',
  ),
);
const time = z
  .string('a date and time')
  .check(z.refine((value) => Number.isFinite(Date.parse(value)), 'a date and time (ISO 8601)'));
const header = z.object({ name: z.string('a string'), value: z.optional(z.unknown()) }, 'an object');
const headers = z.optional(z.nullable(z.array(header, 'an array')));
const maybe = <T extends z.core.SomeType>(schema: T) => z.optional(z.nullable(schema));

const entrySchema = z.object(
  {
    pageref: text,
    startedDateTime: time,
    time: number,
    request: z.object(
      { method: text, url: z.string('a URL'), headers, headersSize: number, bodySize: number },
      'an object',
    ),
    response: maybe(
      z.object(
        {
          status: number,
          httpVersion: text,
          headers,
          redirectURL: text,
          headersSize: number,
          bodySize: number,
          content: maybe(z.object({ size: number, mimeType: text, compression: number }, 'an object')),
          _transferSize: number,
          fromDiskCache: z.optional(z.unknown()),
        },
        'an object',
      ),
    ),
    timings: maybe(
      z.object(
        {
          blocked: number,
          dns: number,
          connect: number,
          ssl: number,
          send: number,
          wait: number,
          receive: number,
          _queued: number,
        },
        'an object',
      ),
    ),
    serverIPAddress: text,
    connection: label,
    // Chromium and chrome-har
    _connectionId: label,
    _initiator: z.optional(z.unknown()),
    _initiator_detail: z.optional(z.unknown()),
    _initiator_type: text,
    _priority: z.optional(z.unknown()),
    _resourceType: text,
    _fromCache: z.optional(z.unknown()),
    _renderBlocking: text,
    // WebPageTest
    _socket: label,
    _protocol: text,
    _contentType: text,
    _bytesIn: number,
    _bytesOut: number,
    _all_start: number,
    _load_start: number,
    _load_end: number,
    _ttfb_start: number,
    _ttfb_end: number,
    _dns_start: number,
    _dns_end: number,
    _connect_start: number,
    _connect_end: number,
    _ssl_start: number,
    _ssl_end: number,
    _ip_addr: text,
  },
  'an object',
);

const harSchema = z.object({
  log: z.object(
    {
      creator: maybe(z.object({ name: text, version: text }, 'an object')),
      browser: maybe(z.object({ name: text, version: text }, 'an object')),
      pages: maybe(
        z.array(
          z.object(
            {
              id: label,
              startedDateTime: z.optional(time),
              pageTimings: maybe(
                z.object(
                  {
                    onLoad: number,
                    onContentLoad: number,
                    _firstContentfulPaint: number,
                    _largestContentfulPaint: number,
                    _firstPaint: number,
                    _startRender: number,
                  },
                  'an object',
                ),
              ),
            },
            'an object',
          ),
          'an array',
        ),
      ),
      entries: z.array(entrySchema, 'an array of entries'),
    },
    'an object',
  ),
});

type Har = z.infer<typeof harSchema>;
type Page = NonNullable<Har['log']['pages']>[number];
type Entry = z.infer<typeof entrySchema>;

/**
 * Reads a HAR 1.2 (plain, Chromium's, chrome-har's, WebPageTest's or Firefox's). Of several pages in
 * one file the first that has requests is taken.
 *
 * @param input parsed JSON
 * @throws InputError naming the place of the first thing that is not usable
 */
export function readHar(input: unknown): ReadRecording {
  const parsed = harSchema.safeParse(input);
  if (!parsed.success) throw inputErrorFrom(parsed.error.issues, input);
  const { log } = parsed.data;
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

/** The first page that has requests, and those; all requests where no page has any. */
function firstPage(log: Har['log'], notes: string[]): { page: Page | undefined; entries: Entry[] } {
  const pages = log.pages ?? [];
  if (pages.length <= 1) return { page: pages[0], entries: log.entries };
  for (const [index, page] of pages.entries()) {
    const begins = timeOf(page);
    // Pages of one id are told apart by time.
    const next = pages.slice(index + 1).find(({ id }) => id === page.id);
    const ends = next === undefined ? Number.NaN : timeOf(next);
    const earlier = pages.slice(0, index).some(({ id }) => id === page.id);
    const entries = log.entries.filter(({ pageref, startedDateTime }) => {
      if (pageref == null ? index > 0 : pageref !== page.id) return false;
      const at = Date.parse(startedDateTime);
      return !(at >= ends) && !(earlier && at < begins);
    });
    if (entries.length === 0) continue;
    const which = index === 0 ? 'the first' : `number ${index + 1}, the first that has requests`;
    notes.push(`${pages.length} pages in the file: took ${which} ("${page.id}", ${entries.length} requests)`);
    return { page, entries };
  }
  notes.push(`${pages.length} pages in the file, none of which has requests: took all requests`);
  return { page: undefined, entries: log.entries };
}

const timeOf = ({ startedDateTime }: Page): number =>
  startedDateTime === undefined ? Number.NaN : Date.parse(startedDateTime);

function browserOf(log: Har['log']): string {
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

interface Times {
  startMs: number;
  endMs: number;
  phases: RequestPhases;
}

/** HAR 1.2 `timings`: durations one after the other, −1 where a phase did not take place. */
function harPhases(entry: Entry, startedMs: number, sslApart: boolean): Times {
  const { timings } = entry;
  const lengthOf = (value: number | string | null | undefined) => Math.max(0, numberOf(value) ?? 0);
  const totalMs = lengthOf(entry.time);
  // chrome-har's `_queued` lies before `startedDateTime`; DevTools' queueing is part of `blocked`.
  const startMs = Math.max(0, startedMs - lengthOf(timings?._queued));
  const phases = noPhases();
  const waitMs = numberOf(timings?.wait);
  if (!timings || waitMs === null || waitMs < 0) {
    return { startMs, endMs: startedMs + totalMs, phases };
  }
  let at = startedMs + lengthOf(timings.blocked);
  const dnsMs = numberOf(timings.dns) ?? -1;
  if (dnsMs > 0) {
    phases.dnsStartMs = at;
    at += dnsMs;
    phases.dnsEndMs = at;
  }
  const connectMs = numberOf(timings.connect) ?? -1;
  if (connectMs > 0) {
    const sslMs = lengthOf(timings.ssl);
    phases.connectStartMs = at;
    // HAR 1.2 counts `ssl` within `connect`; Firefox puts it after.
    at += connectMs + (sslApart ? sslMs : 0);
    phases.connectEndMs = at;
    if (sslMs > 0) phases.secureStartMs = Math.max(phases.connectStartMs, at - sslMs);
  }
  phases.requestStartMs = at;
  at += lengthOf(timings.send) + waitMs;
  phases.responseStartMs = at;
  const endMs = at + lengthOf(timings.receive);
  return { startMs: Math.min(startMs, endMs), endMs: Math.max(endMs, startedMs + totalMs), phases };
}

/** WebPageTest's absolute times, milliseconds after the start of the test; null in other HARs. */
function webPageTestPhases(entry: Entry): Times | null {
  const loadStart = numberOf(entry._load_start);
  const loadEnd = numberOf(entry._load_end);
  if (loadStart === null || loadEnd === null) return null;
  const phases = noPhases();
  const span = (start: number | null, end: number | null): [number, number] | null =>
    start !== null && end !== null && start >= 0 && end > start ? [start, end] : null;
  const dns = span(numberOf(entry._dns_start), numberOf(entry._dns_end));
  const connect = span(numberOf(entry._connect_start), numberOf(entry._connect_end));
  const ssl = span(numberOf(entry._ssl_start), numberOf(entry._ssl_end));
  // Some versions write 0 for the start of a resolution that has only an end.
  if (dns && dns[0] > 0) [phases.dnsStartMs, phases.dnsEndMs] = dns;
  if (connect) {
    phases.connectStartMs = connect[0];
    phases.connectEndMs = ssl ? Math.max(connect[1], ssl[1]) : connect[1];
    phases.secureStartMs = ssl ? ssl[0] : null;
  }
  phases.requestStartMs = numberOf(entry._ttfb_start) ?? loadStart;
  phases.responseStartMs = numberOf(entry._ttfb_end) ?? loadEnd;
  const allStart = numberOf(entry._all_start);
  const startMs = allStart !== null && allStart >= 0 ? Math.min(allStart, loadStart) : loadStart;
  return { startMs: Math.max(0, startMs), endMs: Math.max(startMs, loadEnd), phases };
}

function noPhases(): RequestPhases {
  return {
    dnsStartMs: null,
    dnsEndMs: null,
    connectStartMs: null,
    secureStartMs: null,
    connectEndMs: null,
    requestStartMs: null,
    responseStartMs: null,
  };
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
const URGENCY: Record<string, number> = {
  veryhigh: 0,
  highest: 0,
  high: 1,
  medium: 2,
  low: 3,
  lowest: 3,
  verylow: 4,
  idle: 4,
};

function urgencyOf(priority: unknown): number | null {
  return typeof priority === 'string' ? (URGENCY[priority.toLowerCase()] ?? null) : null;
}

function offersH3(headers: Entry['request']['headers']): boolean | null {
  if (!headers || headers.length === 0) return null;
  return headers.some(({ name, value }) => name.toLowerCase() === 'alt-svc' && /\bh3\b/.test(String(value)));
}

// Initiators

interface AskedFor {
  kind: InitiatorKind;
  /** URLs on the stack, innermost first. */
  urls: string[];
}

function linkInitiators(entries: readonly Entry[], drafts: readonly RequestDraft[]): void {
  const byUrl = new Map<string, RequestDraft[]>();
  for (const draft of drafts) {
    const known = byUrl.get(draft.url);
    if (known) known.push(draft);
    else byUrl.set(draft.url, [draft]);
  }
  const redirects = redirectsByTarget(entries, drafts);
  for (const [index, draft] of drafts.entries()) {
    const entry = entries[index]!;
    const redirect = latestBefore(redirects.get(draft.url), draft, (candidate) => candidate.endMs);
    if (redirect) {
      draft.initiator = { kind: 'redirect', request: redirect, source: 'recorded' };
      continue;
    }
    const asked = initiatorOf(entry);
    const askers = asked.urls.flatMap((url) => {
      const asker = latestBefore(byUrl.get(url), draft, (candidate) => candidate.startMs);
      return asker ? [asker] : [];
    });
    // Of the scripts on a stack, the one that arrived last held the request up.
    const asker = askers.reduce<RequestDraft | null>(
      (last, next) => (last === null || next.endMs > last.endMs ? next : last),
      null,
    );
    const source = asker === null || asked.kind === 'other' ? 'inferred' : 'recorded';
    const fromStyle = asker?.type === 'style' && asked.kind === 'parser';
    draft.initiator = { kind: fromStyle ? 'style' : asked.kind, request: asker, source };
  }
  const first = drafts.reduce((least, next) => (next.startMs < least.startMs ? next : least), drafts[0]!);
  first.initiator = { kind: 'navigation', request: null, source: 'recorded' };
}

function redirectsByTarget(
  entries: readonly Entry[],
  drafts: readonly RequestDraft[],
): Map<string, RequestDraft[]> {
  const redirects = new Map<string, RequestDraft[]>();
  for (const [index, entry] of entries.entries()) {
    const location = entry.response?.redirectURL;
    if (!location || !isRedirect(drafts[index]!.status)) continue;
    const target = resolveReference(location, entry.request.url);
    const known = redirects.get(target);
    if (known) known.push(drafts[index]!);
    else redirects.set(target, [drafts[index]!]);
  }
  return redirects;
}

/** Of the requests for one URL, the last that began before `draft` and is not it. */
function latestBefore(
  candidates: readonly RequestDraft[] | undefined,
  draft: RequestDraft,
  timeOf: (candidate: RequestDraft) => number,
): RequestDraft | null {
  let latest: RequestDraft | null = null;
  for (const candidate of candidates ?? []) {
    if (candidate === draft || candidate.startMs > draft.startMs) continue;
    // Recorders round: a redirect's answer may seem to end a little after what it led to.
    if (timeOf(candidate) > draft.startMs + 5) continue;
    if (latest === null || timeOf(candidate) > timeOf(latest)) latest = candidate;
  }
  return latest;
}

const KINDS: Record<string, InitiatorKind> = {
  parser: 'parser',
  script: 'script',
  preload: 'preload',
  preflight: 'script',
  signedexchange: 'parser',
};

/** Chromium's object, or the URL string of WebPageTest and chrome-har with its `_initiator_detail`. */
function initiatorOf(entry: Entry): AskedFor {
  const detail = objectOf(entry._initiator) ?? objectOf(jsonOf(entry._initiator_detail));
  const plain = typeof entry._initiator === 'string' && entry._initiator !== '' ? entry._initiator : null;
  if (detail === null) {
    const referer = entry.request.headers?.find(({ name }) => name.toLowerCase() === 'referer')?.value;
    if (plain !== null) return { kind: kindOf(entry._initiator_type) ?? 'parser', urls: [plain] };
    // A referrer names the document, or the stylesheet or module that asked: right, but nobody said so.
    return { kind: 'other', urls: typeof referer === 'string' ? [referer] : [] };
  }
  const kind = kindOf(typeof detail.type === 'string' ? detail.type : entry._initiator_type);
  const urls = typeof detail.url === 'string' && detail.url !== '' ? [detail.url] : [];
  let stack = objectOf(detail.stack);
  for (let depth = 0; stack !== null && depth < MAX_ASYNC_DEPTH; depth++) {
    const frames = Array.isArray(stack.callFrames) ? stack.callFrames : [];
    for (const frame of frames) {
      const url = objectOf(frame)?.url;
      if (typeof url === 'string' && url !== '' && !urls.includes(url)) urls.push(url);
    }
    stack = objectOf(stack.parent);
  }
  if (urls.length === 0 && plain !== null) urls.push(plain);
  return { kind: kind ?? 'other', urls };
}

/** Async stacks chain through promises and timers; beyond this they say nothing new. */
const MAX_ASYNC_DEPTH = 16;

function kindOf(type: string | null | undefined): InitiatorKind | null {
  return type ? (KINDS[type.toLowerCase()] ?? null) : null;
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

function isRedirect(status: number): boolean {
  return status >= 301 && status <= 308 && status !== 304;
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function jsonOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    // A detail that is not JSON tells nothing; the initiator's URL stands beside it.
    return null;
  }
}

function numberOf(value: number | string | null | undefined): number | null {
  if (value === null || value === undefined || value === '') return null;
  return Number(value);
}

function positive(value: number | string | null | undefined): number | null {
  const number = numberOf(value);
  return number !== null && number > 0 ? number : null;
}

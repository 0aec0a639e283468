/** A recorded page: a site, and `record.json` beside it, which says what was recorded and what was left out. */
import { isAscii, isUtf8 } from 'node:buffer';
import { PROTOCOLS, type Protocol, type RecordedRequest } from '@hopwise/pageload-emulator';
import { serverTimes } from '../replay/server-times.ts';
import type { Site } from '../sites/site.ts';
import type { GeneratedSite } from '../sites/write-site.ts';
import type { Capture } from './capture.ts';
import type { Captured, CapturedAnswer } from './captured.ts';
import { encodeAs } from './encode.ts';
import { keptHeaders } from './headers.ts';

/** One request as `record.json` has it. Times are milliseconds after the navigation began. */
export interface RecordedPageRequest {
  method: string;
  url: string;
  type: Captured['type'];
  /** 0 without an answer. */
  status: number;
  /** Protocol in the recording. */
  protocol: Protocol | null;
  startMs: number;
  endMs: number;
  /** Body bytes on the wire, recorded and replayed. Null where unknown. */
  recordedBytes: number | null;
  replayedBytes: number | null;
  /**
   * `whole`: as recorded; `partial`: the received part; `filler`: noise of the recorded size; `repeated`: answered like an
   * earlier request of the same method, URL and body; `left out`: not in the site.
   */
  kept: 'whole' | 'partial' | 'filler' | 'repeated' | 'left out';
  notes: string[];
}

export interface RecordedPage extends GeneratedSite {
  requests: RecordedPageRequest[];
  /** Notes about the whole page, one line each. */
  notes: string[];
}

export interface RecordedPageOptions {
  name: string;
  /** Requested URL. */
  url: string;
  seed: number;
  /** Limit for all bodies together, including fillers for unknown parts. */
  maxBytes: number;
  /** `seen`: an origin offers HTTP/1.1 and the protocols seen; `all`: every origin offers all protocols. */
  protocols: 'all' | 'seen';
  signal?: AbortSignal;
}

/** Name of the file in `RecordedPage.files` that is not a body. */
export const RECORD_FILE = 'record.json';

const HOST = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
/** The replay server's own limits. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;
const MAX_ORIGINS = 500;
/** Limit for all noise bodies together: the server makes them in memory, and their sizes come from untrusted headers. */
const MAX_FILLER_BYTES = 2 ** 30;

/**
 * Turns a capture into a site.
 *
 * @throws {RangeError} in one line, when the page's document cannot be replayed.
 */
export async function recordedPage(capture: Capture, options: RecordedPageOptions): Promise<RecordedPage> {
  const files = new Map<string, Uint8Array>();
  const timings = capture.requests.map(timingOf);
  const times = serverTimes(timings);
  const chosen = chooseAnswers(capture.requests);
  const ranges = rangesByKey(capture.requests);
  const budget: Budget = { bytes: options.maxBytes, fillerBytes: MAX_FILLER_BYTES };
  const bodyMatters = severalBodies(chosen.keys());
  const requests: RecordedPageRequest[] = [];
  const resources: Site['resources'] = [];
  const origins = new Map<string, number[]>();
  for (const [id, captured] of capture.requests.entries()) {
    options.signal?.throwIfAborted();
    const request = leftOut(captured);
    requests.push(request);
    const { answer } = captured;
    const obstacle = obstacleOf(captured);
    if (obstacle !== null || answer === null) {
      if (obstacle !== null) request.notes.push(obstacle);
      continue;
    }
    const { origin } = new URL(captured.url);
    if (!origins.has(origin) && origins.size >= MAX_ORIGINS) {
      request.notes.push(`a site has at most ${MAX_ORIGINS} origins`);
      continue;
    }
    origins.set(origin, [...(origins.get(origin) ?? []), id]);
    if (chosen.get(keyOf(captured)) !== captured) {
      request.kept = 'repeated';
      continue;
    }
    const { headers, notes } = keptHeaders(answer.headers);
    const parts = ranges.get(keyOf(captured)) ?? [];
    const stored = await storeBody(parts, captured, answer, headers, budget);
    request.kept = stored.kept;
    request.notes.push(...notes, ...stored.notes);
    request.replayedBytes = 'bytes' in stored.body ? stored.body.bytes : stored.body.content.length;
    const { url, method, requestSha256 } = captured;
    resources.push({
      origin,
      method,
      // The URL as requested: its parsed parts lose an empty query.
      path: url.slice(origin.length),
      ...(bodyMatters.has(`${method} ${url}`) && requestSha256 !== null && { requestSha256 }),
      status: stored.status,
      headers,
      body: keepBody(files, id, stored.body),
      thinkMs: times.thinkMs(timings[id] as RecordedRequest),
    });
  }
  requireDocument(options.url, resources, requests);
  const site: Site = {
    format: 'hopwise-site',
    version: 1,
    name: options.name,
    entry: options.url,
    origins: [...origins].map(([origin, ids]) => ({
      origin,
      protocols:
        options.protocols === 'all'
          ? [...PROTOCOLS]
          : offered(ids.map((id) => capture.requests[id] as Captured)),
      extraRttMs: times.extraRttMs(ids.map((id) => timings[id] as RecordedRequest)),
    })),
    resources,
    determinism: { seed: options.seed, epochMs: capture.epochMs },
  };
  const notes = pageNotes(capture, requests);
  files.set(RECORD_FILE, Buffer.from(recordJson(capture, options, requests, notes)));
  return { site, files, requests, notes };
}

/** A request as `record.json` has it until an answer is kept for it. */
function leftOut({ url, method, type, startMs, endMs, answer, failure }: Captured): RecordedPageRequest {
  return {
    method,
    url,
    type,
    status: answer?.status ?? 0,
    protocol: answer?.protocol ?? null,
    startMs: Math.round(startMs),
    endMs: Math.round(endMs),
    recordedBytes: answer?.bodyBytes ?? null,
    replayedBytes: null,
    kept: 'left out',
    notes: failure === null ? [] : [failure],
  };
}

/** Puts a body into a file of its own, unless it is noise, which the server makes. @returns the body as the site has it */
function keepBody(
  files: Map<string, Uint8Array>,
  id: number,
  body: StoredBody['body'],
): Site['resources'][number]['body'] {
  if ('bytes' in body) return { filler: 'bytes', bytes: body.bytes };
  const file = `bodies/${String(id).padStart(4, '0')}`;
  files.set(file, body.content);
  return { file };
}

/** @throws {RangeError} in one line, where the page's document is not among the resources. */
function requireDocument(
  url: string,
  resources: Site['resources'],
  requests: readonly RecordedPageRequest[],
): void {
  const entry = url.split('#')[0] as string;
  if (resources.some(({ origin, path }) => origin + path === entry)) return;
  const why = requests.find((request) => request.url === entry)?.notes[0] ?? 'it was not requested';
  throw new RangeError(`${entry}: the page's document cannot be replayed: ${why}`);
}

/** Requests are the same when method, URL and body are. */
const keyOf = ({ method, url, requestSha256 }: Captured): string => `${method} ${url} ${requestSha256 ?? ''}`;

/** Requests answered with a range. */
function rangesByKey(requests: Captured[]): Map<string, Captured[]> {
  const parts = new Map<string, Captured[]>();
  for (const request of requests) {
    if (request.answer?.status !== 206) continue;
    const key = keyOf(request);
    const before = parts.get(key);
    if (before) before.push(request);
    else parts.set(key, [request]);
  }
  return parts;
}

/**
 * One answer for each key: the first with content, else the first that is not a redirect, else the first. A page redirected
 * away and back to set a cookie requests the same URL twice.
 */
function chooseAnswers(requests: Captured[]): Map<string, Captured> {
  const chosen = new Map<string, Captured>();
  for (const request of requests) {
    if (obstacleOf(request) !== null) continue;
    const before = chosen.get(keyOf(request));
    if (before === undefined || worthOf(request) > worthOf(before)) chosen.set(keyOf(request), request);
  }
  return chosen;
}

function worthOf({ answer, failure }: Captured): number {
  const status = answer?.status ?? 0;
  if (status >= 200 && status < 300) return failure === null ? 4 : 3;
  if (status === 304) return 1;
  return status >= 300 && status < 400 ? 1 : 2;
}

/** `method URL` keys whose requests differ in their bodies. */
function severalBodies(keys: Iterable<string>): Set<string> {
  const seen = new Set<string>();
  const several = new Set<string>();
  for (const key of keys) {
    const stem = key.slice(0, key.lastIndexOf(' '));
    if (seen.has(stem)) several.add(stem);
    seen.add(stem);
  }
  return several;
}

/** Why a request cannot be part of a site; null when it can. */
function obstacleOf({ url, method, answer }: Captured): string | null {
  const { protocol, port, hostname } = new URL(url);
  if (answer === null) return 'no answer came';
  if (protocol !== 'https:') return 'a site has only https:// URLs';
  if (port !== '') return 'a site is served only at port 443';
  if (!HOST.test(hostname) || hostname.length > 253 || /^[\d.]+$/.test(hostname))
    return 'a site has host names of letters, digits, - and . only';
  if (!/^[A-Z]{1,20}$/.test(method)) return 'a site has methods in capitals only';
  if (answer.status < 200 || answer.status > 599) return `a site cannot answer with status ${answer.status}`;
  return null;
}

/** Remaining limits. */
interface Budget {
  /** Size of stored bodies. */
  bytes: number;
  /** Bytes of noise that the server makes. */
  fillerBytes: number;
}

interface StoredBody {
  body: { content: Uint8Array } | { bytes: number };
  kept: 'whole' | 'partial' | 'filler';
  status: number;
  notes: string[];
}

/** The body to serve; sets its headers in `headers`. */
async function storeBody(
  parts: Captured[],
  captured: Captured,
  answer: CapturedAnswer,
  headers: Record<string, string>,
  budget: Budget,
): Promise<StoredBody> {
  if (answer.status === 206) return wholeOf(parts, headers, budget);
  const { status, body, bodyBytes } = answer;
  const coding = headers['content-encoding'];
  if (body === null) {
    delete headers['content-encoding'];
    const length = answer.headers.find(({ name }) => name.toLowerCase() === 'content-length')?.value ?? '';
    const bytes = bodyBytes ?? (/^\d{1,15}$/.test(length) ? Number(length) : 0);
    return { ...fillerOf(bytes, budget), status };
  }
  budget.bytes -= body.length;
  if (captured.failure !== null) delete headers['content-encoding'];
  const recoded = nameEncoding(captured, body, headers);
  const encoded = await encodeAs(body, headers['content-encoding'], body.length === 0 ? null : bodyBytes);
  if (encoded.coding === null || body.length === 0) delete headers['content-encoding'];
  else headers['content-encoding'] = encoded.coding;
  const changed = (headers['content-encoding'] ?? '') !== (coding ?? '') && body.length > 0;
  return {
    body: { content: body.length === 0 ? body : encoded.body },
    kept: captured.failure === null ? 'whole' : 'partial',
    status,
    notes: [
      ...(changed ? [`${coding} replayed as ${headers['content-encoding'] ?? 'not encoded'}`] : []),
      ...(recoded === null ? [] : [`${recoded} replayed as UTF-8: an integrity attribute of it fails`]),
    ],
  };
}

/** Noise in place of a body. */
function fillerOf(bytes: number, budget: Budget): Pick<StoredBody, 'body' | 'kept' | 'notes'> {
  const kept = Math.min(bytes, MAX_BODY_BYTES, budget.fillerBytes);
  budget.fillerBytes -= kept;
  return { body: { bytes: kept }, kept: 'filler', notes: [`replayed as ${kept} bytes of noise`] };
}

const TEXT_TYPES = new Set<Captured['type']>(['document', 'iframe', 'style', 'script']);

/**
 * The browser hands out text decoded, and it is stored as UTF-8: sets the charset in `content-type`.
 *
 * @returns the encoding that `content-type` named before; null when it is unchanged
 */
function nameEncoding({ type }: Captured, body: Uint8Array, headers: Record<string, string>): string | null {
  if (!TEXT_TYPES.has(type) || isAscii(body) || !isUtf8(body)) return null;
  const [essence = '', ...parameters] = (headers['content-type'] ?? '').split(';');
  const charset = parameters.map((part) => /^\s*charset\s*=\s*"?([\w-]+)/i.exec(part)?.[1]).find(Boolean);
  if (essence.trim() === '' || /^utf-?8$/i.test(charset ?? '')) return null;
  headers['content-type'] = `${essence.trim()}; charset=utf-8`;
  return charset ?? null;
}

const CONTENT_RANGE = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/;

/**
 * Assembles a resource that was fetched in ranges (RFC 9110, section 14); the replay server cuts ranges from it. Gaps are
 * zeros.
 */
function wholeOf(parts: Captured[], headers: Record<string, string>, budget: Budget): StoredBody {
  headers['accept-ranges'] = 'bytes';
  delete headers['content-encoding'];
  const found: { first: number; body: Uint8Array | null }[] = [];
  let size = 0;
  for (const { answer } of parts) {
    const range = answer?.headers.find(({ name }) => name.toLowerCase() === 'content-range')?.value ?? '';
    const match = CONTENT_RANGE.exec(range);
    if (answer?.status !== 206 || match === null) continue;
    found.push({ first: Number(match[1]), body: answer.body });
    const total = match[3] === '*' ? Number(match[2]) + 1 : Number(match[3]);
    size = Math.max(size, total, Number(match[1]) + (answer.body?.length ?? 0));
  }
  size = Math.min(size, MAX_BODY_BYTES);
  const held = found.filter(({ body }) => body !== null);
  // The size is the server's claim: it may have sent only one byte.
  if (held.length === 0 || size > budget.bytes) {
    const { notes, ...filler } = fillerOf(size, budget);
    return { ...filler, status: 200, notes: [`fetched in ranges: ${notes[0]}`] };
  }
  budget.bytes -= size;
  const content = new Uint8Array(size);
  let covered = 0;
  for (const { first, body } of held.toSorted((one, other) => one.first - other.first)) {
    if (body === null || first >= size) continue;
    content.set(body.subarray(0, size - first), first);
    if (first <= covered) covered = Math.max(covered, first + body.length);
  }
  const isWhole = covered >= size;
  return {
    body: { content },
    kept: isWhole ? 'whole' : 'partial',
    status: 200,
    notes: isWhole ? [] : ['fetched only in part: the rest is zeros'],
  };
}

function timingOf(captured: Captured, id: number): RecordedRequest {
  const { timing, answer, startMs, endMs } = captured;
  const at = (offset: number) => (offset < 0 ? null : startMs + offset);
  return {
    id,
    url: captured.url,
    method: captured.method,
    type: captured.type,
    status: answer?.status ?? 0,
    protocol: answer?.protocol ?? null,
    startMs,
    endMs,
    phases: {
      dnsStartMs: at(timing.domainLookupStart),
      dnsEndMs: at(timing.domainLookupEnd),
      connectStartMs: at(timing.connectStart),
      secureStartMs: at(timing.secureConnectionStart),
      connectEndMs: at(timing.connectEnd),
      requestStartMs: at(timing.requestStart),
      responseStartMs: at(timing.responseStart),
    },
    transferBytes: null,
    bodyBytes: answer?.bodyBytes ?? null,
    decodedBytes: answer?.body?.length ?? null,
    initiator: { kind: 'other', requestId: null, source: 'inferred' },
    renderBlocking: null,
    fromCache: false,
    connectionId: null,
    remoteIp: answer?.remoteIp ?? null,
    offersH3: answer === null ? null : offersH3(answer),
  };
}

const offersH3 = ({ headers }: CapturedAnswer): boolean =>
  headers.some(({ name, value }) => name.toLowerCase() === 'alt-svc' && /(^|[,\s])h3=/.test(value));

/** HTTP/1.1 is assumed to be offered, as nothing shows the opposite. */
function offered(requests: Captured[]): Protocol[] {
  const seen = new Set<Protocol>(['h1']);
  for (const { answer } of requests) {
    if (answer?.protocol) seen.add(answer.protocol);
    if (answer && offersH3(answer)) seen.add('h3');
  }
  return PROTOCOLS.filter((protocol) => seen.has(protocol));
}

function pageNotes(capture: Capture, requests: RecordedPageRequest[]): string[] {
  const notes: string[] = [];
  if (capture.pltMs === null) notes.push('no load event in time: kept what was received');
  if (capture.dropped > 0) notes.push(`${capture.dropped} requests beyond the limit were not kept`);
  for (const kept of ['left out', 'filler', 'partial'] as const) {
    const own = requests.filter((request) => request.kept === kept);
    const first = own[0];
    if (first)
      notes.push(`${own.length} ${kept}, such as ${clip(first.url)}: ${first.notes[0] ?? 'no reason known'}`);
  }
  return notes;
}

const clip = (url: string): string => (url.length > 120 ? `${url.slice(0, 117)}...` : url);

function recordJson(
  { epochMs, browser, finalUrl, pltMs }: Capture,
  { url }: RecordedPageOptions,
  requests: RecordedPageRequest[],
  notes: string[],
): string {
  const record = {
    format: 'hopwise-page-record',
    version: 1,
    url,
    // The fragment may hold secrets put there by a script.
    finalUrl: finalUrl.split('#')[0],
    at: new Date(epochMs).toISOString(),
    browser: `Chromium ${browser}`,
    pltMs,
    notes,
    requests,
  };
  return `${JSON.stringify(record, null, 1)}\n`;
}

import { InputError, placeOf } from '../../util/input-error.ts';
import type { HarForm } from '../har/forms.ts';
import { objectOf } from '../har/values.ts';
import { readEvents, type TraceData, type TraceEvent } from './trace-events.ts';
import { pagesIn, type TracePage } from './trace-pages.ts';
import { timingsOf } from './trace-timings.ts';

/** One hop of a request: to a redirect, or to the answer. */
interface Hop {
  sent: TraceEvent;
  /** Undefined for a redirect, of which a trace has only when it was followed. */
  answered: TraceEvent | undefined;
  ended: TraceEvent | undefined;
  next: TraceEvent | undefined;
}

/**
 * Reads a Chrome trace (the Performance panel's file) as the HAR that DevTools would have written of the same loads.
 *
 * @returns null for any other input
 * @throws InputError for a trace that begins after the navigation, or names none by its URL: a frame would be taken for the page
 */
export function traceAsHar(input: unknown): HarForm | null {
  const list = Array.isArray(input) ? input : objectOf(input)?.traceEvents;
  if (!Array.isArray(list)) return null;
  if (Array.isArray(input) && !list.some((event) => typeof objectOf(event)?.ph === 'string')) return null;
  const events = readEvents(list);
  const wallMs = wallClock(events);
  const pages = pagesIn(events, wallMs);
  const entries = hopsIn(events).map((hop) => entryOf(hop, pages, wallMs));
  const place = Array.isArray(input) ? [] : ['traceEvents'];
  if (pages.length === 0 && entries.length > 0) {
    throw new InputError(
      `${placeOf(place)}: expected the page's navigation with its URL, got none: the trace begins after the navigation, or its Chrome is too old; record a reload`,
    );
  }
  const creator = { name: 'Chrome trace', version: '' };
  return { log: { creator, pages: pages.map(({ page }) => page), entries }, place, entriesPlace: place };
}

/** Turns monotonic microseconds into Unix milliseconds, by a response whose time is known on both clocks. */
function wallClock(events: readonly TraceEvent[]): (ts: number) => number {
  for (const { args } of events) {
    const { timing, responseTime } = args.data ?? {};
    if (timing == null || responseTime == null || timing.receiveHeadersEnd == null) continue;
    const offsetMs = responseTime - (1_000 * timing.requestTime + timing.receiveHeadersEnd);
    return (ts) => ts / 1_000 + offsetMs;
  }
  return (ts) => ts / 1_000;
}

function hopsIn(events: readonly TraceEvent[]): Hop[] {
  const byRequest = new Map<string, TraceEvent[]>();
  for (const event of events) {
    const id = event.args.data?.requestId;
    if (id == null || !event.name.startsWith('Resource')) continue;
    const known = byRequest.get(id);
    if (known) known.push(event);
    else byRequest.set(id, [event]);
  }
  const hops: Hop[] = [];
  for (const own of byRequest.values()) {
    const answered = own.find(({ name }) => name === 'ResourceReceiveResponse');
    const ended = own.find(({ name }) => name === 'ResourceFinish');
    const sent = announcedHops(own, answered);
    for (const [at, one] of sent.entries()) {
      const next = sent[at + 1];
      hops.push({
        sent: one,
        next,
        ...(next ? { answered: undefined, ended: undefined } : { answered, ended }),
      });
    }
  }
  return hops.sort((a, b) => a.sent.ts - b.sent.ts);
}

/**
 * The hops of a request, of which the last was answered. Some are announced twice, by two processes. Those of a document are announced when
 * its answer arrives, at once and by their origins alone: all but the last tell nothing.
 */
function announcedHops(own: readonly TraceEvent[], answered: TraceEvent | undefined): TraceEvent[] {
  const all = own.filter(({ name }) => name === 'ResourceSendRequest');
  const last = all.at(-1);
  const lastTs = 1e6 * (answered?.args.data?.timing?.requestTime ?? Number.POSITIVE_INFINITY);
  const urlOf = ({ args }: TraceEvent) => args.data?.url;
  const urls = new Set<unknown>();
  const hops = all.filter((one) => one.ts < lastTs && urls.size < urls.add(urlOf(one)).size);
  const isWhole = last === undefined || (hops.length > 0 && urlOf(hops.at(-1)!) === urlOf(last));
  return isWhole ? hops : [...hops, last];
}

function entryOf(hop: Hop, pages: readonly TracePage[], wallMs: (ts: number) => number): object {
  const { sent, answered, ended, next } = hop;
  const data = sent.args.data!;
  const answer = answered?.args.data ?? undefined;
  const timing = answer?.timing ?? null;
  // A document is announced when its answer arrives.
  const issuedTs = timing === null ? sent.ts : Math.min(sent.ts, 1e6 * timing.requestTime);
  const end = ended?.args.data ?? undefined;
  const endTs = end?.finishTime == null ? (ended ?? next ?? sent).ts : 1e6 * end.finishTime;
  const page = pages.findLast(({ startTs }) => startTs <= issuedTs);
  const isOfPage = page === undefined || data.frame == null || data.frame === page.frame;
  const document = /^document$/i.test(data.resourceType ?? '')
    ? [{ name: 'Sec-Fetch-Dest', value: isOfPage ? 'document' : 'iframe' }]
    : [];
  return {
    ...(page && { pageref: page.page.id }),
    startedDateTime: new Date(wallMs(issuedTs)).toISOString(),
    ...timingsOf(timing, issuedTs / 1_000, endTs / 1_000),
    request: { method: data.requestMethod, url: data.url ?? '', headers: document },
    response: responseOf(hop, answer, end),
    ...(answer?.fromCache === true && { _fromCache: 'disk' }),
    ...(answer?.connectionId != null && { _connectionId: answer.connectionId }),
    _initiator: initiatorOf(data),
    _isLinkPreload: data.isLinkPreload,
    _priority: data.priority,
    _resourceType: typeNameOf(data),
    _renderBlocking: data.renderBlocking,
    _requestId: data.requestId,
  };
}

function responseOf({ next }: Hop, answer: TraceData | undefined, end: TraceData | undefined): object {
  if (next !== undefined) return { status: 302, redirectURL: next.args.data?.url, bodySize: 0 };
  if (answer === undefined || end?.didFail === true) return { status: 0, _error: 'no answer in the trace' };
  return {
    status: answer.statusCode,
    httpVersion: answer.protocol,
    headers: Array.isArray(answer.headers) ? answer.headers : [],
    content: { size: end?.decodedBodyLength ?? -1, mimeType: answer.mimeType },
    bodySize: -1,
    headersSize: -1,
    ...(end?.encodedDataLength != null && { _transferSize: end.encodedDataLength }),
    _fetchedViaServiceWorker: answer.fromServiceWorker,
  };
}

/** DevTools' name of a type. What scripts fetch is of no type of its own, but has one in its initiator. */
function typeNameOf({ resourceType, initiator }: TraceData): string | null | undefined {
  const fetched = objectOf(initiator)?.fetchType;
  const isFetched = typeof fetched === 'string' && /^(fetch|xmlhttprequest|beacon)$/.test(fetched);
  return isFetched ? fetched.replace('xmlhttprequest', 'xhr') : resourceType;
}

/** DevTools' initiator; a trace has a script's stack beside it. */
function initiatorOf({ initiator, stackTrace }: TraceData): object {
  if (Array.isArray(stackTrace)) return { type: 'script', stack: stackTrace };
  return objectOf(initiator) ?? { type: 'other' };
}

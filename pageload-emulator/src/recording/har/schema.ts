import * as z from 'zod/mini';
import { InputError, inputErrorFrom, placeOf } from '../../util/input-error.ts';
import type { HarForm } from './forms.ts';
import { headersIn } from './header-list.ts';
import { isClockZero, isoDate } from './iso-date.ts';
import { isNumber, numberOf, objectOf } from './values.ts';

// WebPageTest writes many numbers as strings.
const number = z.optional(z.custom<number | string | null>(isNumber, 'a number'));
const text = z.optional(
  z.pipe(
    z.custom<string | number | null>(
      (value) => value === null || typeof value === 'string' || typeof value === 'number',
      'a string',
    ),
    z.transform((value) => (value === null ? null : String(value))),
  ),
);
const label = z.optional(
  z.custom<string | number | null>(
    (value) => value === null || typeof value === 'string' || typeof value === 'number',
    'a string or a number',
  ),
);
const time = z.pipe(
  z.custom<unknown>((value) => isoDate(value) !== null, {
    error: ({ input }) => (typeof input === 'string' ? 'a date and time (ISO 8601)' : 'a date and time'),
  }),
  z.transform((value) => isoDate(value)!),
);
const maybe = <T extends z.core.SomeType>(schema: T) => z.optional(z.nullable(schema));
/** An object that may be absent or empty: PHP writes an empty one as an empty array. */
const maybeObject = <T extends z.core.$ZodLooseShape>(shape: T) =>
  maybe(
    z.pipe(
      z.transform((value: unknown) => (Array.isArray(value) && value.length === 0 ? {} : value)),
      z.object(shape, 'an object'),
    ),
  );
const headers = maybe(
  z.pipe(
    z.custom<object>((value) => typeof value === 'object', 'an array of headers'),
    z.transform(headersIn),
  ),
);

// HAR 1.2: a field that begins with an underscore belongs to the tool that wrote it. One with another meaning is no error
// and is ignored.
const own = <T extends z.core.SomeType>(schema: T) => z.catch(schema, undefined as z.output<T>);
const ownNumber = own(number);
const packets = z.number().check(z.gte(0), z.lte(1e9));
const ownText = own(text);
const ownLabel = own(label);
const any = z.optional(z.unknown());

const entrySchema = z.object(
  {
    pageref: label,
    startedDateTime: time,
    time: number,
    request: z.object(
      {
        method: text,
        url: z.string('a URL'),
        httpVersion: text,
        headers,
        headersSize: number,
        bodySize: number,
        // chrome-har
        _isLinkPreload: any,
      },
      'an object',
    ),
    response: maybe(
      z.object(
        {
          status: number,
          statusText: text,
          httpVersion: text,
          headers,
          redirectURL: text,
          _error: any,
          headersSize: number,
          bodySize: number,
          content: maybeObject({ size: number, mimeType: text, compression: number }),
          _transferSize: ownNumber,
          // DevTools
          _fetchedViaServiceWorker: any,
          _serviceWorkerResponseSource: any,
          // chrome-har
          fromDiskCache: any,
          fromPrefetchCache: any,
          fromServiceWorker: any,
        },
        'an object',
      ),
    ),
    timings: maybeObject({
      blocked: number,
      dns: number,
      connect: number,
      ssl: number,
      send: number,
      wait: number,
      receive: number,
      _queued: ownNumber,
    }),
    cache: any,
    serverIPAddress: text,
    connection: label,
    // DevTools and chrome-har
    _connectionId: ownLabel,
    _initiator: any,
    _initiator_detail: any,
    _initiator_type: ownText,
    _isLinkPreload: any,
    _priority: any,
    _resourceType: ownText,
    _fromCache: any,
    // chrome-har-capturer
    _fromDiskCache: any,
    _renderBlocking: ownText,
    _requestId: ownLabel,
    _was_pushed: any,
    // Safari, Playwright
    _fetchType: any,
    _wasFulfilled: any,
    _apiRequest: any,
    _frameref: any,
    // WebPageTest
    _request_type: ownText,
    _socket: ownLabel,
    _protocol: ownText,
    _contentType: ownText,
    _bytesIn: ownNumber,
    _bytesOut: ownNumber,
    _created: ownNumber,
    _all_start: ownNumber,
    _load_start: ownNumber,
    _load_end: ownNumber,
    _ttfb_start: ownNumber,
    _ttfb_end: ownNumber,
    _dns_start: ownNumber,
    _dns_end: ownNumber,
    _connect_start: ownNumber,
    _connect_end: ownNumber,
    _ssl_start: ownNumber,
    _ssl_end: ownNumber,
    _ip_addr: ownText,
  },
  'an object',
);

const logSchema = z.object(
  {
    creator: maybeObject({ name: text, version: text }),
    browser: maybeObject({ name: text, version: text }),
    pages: maybe(
      z.array(
        z.object(
          {
            id: label,
            // Entries have times of their own: a page's that mean nothing are as if they were absent.
            startedDateTime: ownText,
            title: ownText,
            pageTimings: maybeObject({
              onLoad: ownNumber,
              onContentLoad: ownNumber,
              // sitespeed.io, WebPageTest
              _firstContentfulPaint: ownNumber,
              _largestContentfulPaint: ownNumber,
              _firstPaint: ownNumber,
              _startRender: ownNumber,
            }),
            // WebPageTest
            _URL: ownText,
            _loadTime: ownNumber,
            _domContentLoadedEventStart: ownNumber,
            _firstContentfulPaint: ownNumber,
            '_chromeUserTiming.LargestContentfulPaint': ownNumber,
            // What a NetLog has.
            _quicPackets: own(z.optional(z.object({ sent: packets, lossEvents: packets }))),
          },
          'an object',
        ),
        'an array',
      ),
    ),
    entries: z.array(z.unknown(), 'an array of entries'),
  },
  'an object',
);

export type Entry = z.infer<typeof entrySchema>;
type Log = Omit<z.infer<typeof logSchema>, 'entries'>;
export type Page = NonNullable<Log['pages']>[number];
export interface Har extends Log {
  entries: Entry[];
}

/** Entries that are left out as they cannot be used. */
export interface UnusableEntries {
  count: number;
  /** What is wrong with the first of them, and where; null without any. */
  first: InputError | null;
}

/** What is wrong with an entry whose start is the zero of a clock, among others with a date. */
const NO_DATE = {
  code: 'custom',
  path: ['startedDateTime'],
  message: 'a date and time',
} as const satisfies Partial<z.core.$ZodIssue>;

/** Limits of a whole file; one page load has far fewer. */
const MAX = { entries: 50_000, pages: 10_000 };

/**
 * Parses those parts of a HAR's log that are read. Entries that cannot be used are left out, unless the first or half of them are such.
 *
 * @throws InputError naming the place of the first thing that cannot be used
 */
export function parseHar({ log: input, place, entriesPlace }: HarForm): {
  log: Har;
  unusable: UnusableEntries;
} {
  const lists = objectOf(input);
  for (const [name, limit] of Object.entries(MAX)) {
    const list = lists?.[name];
    if (Array.isArray(list) && list.length > limit) {
      const at = name === 'entries' ? entriesPlace : [...place, name];
      throw new InputError(`${placeOf(at)}: expected at most ${limit} ${name}, got ${list.length}`);
    }
  }
  const parsed = logSchema.safeParse(input);
  if (!parsed.success) throw inputErrorFrom(parsed.error.issues, input, place);
  const log = parsed.data;
  const entries: Entry[] = [];
  const unusable: UnusableEntries = { count: 0, first: null };
  const isDated = log.entries.some(hasDate);
  // One by one: a schema of the array would collect all issues, which may exceed memory for a large file.
  for (const [index, entry] of log.entries.entries()) {
    const read = entrySchema.safeParse(entry);
    // A recording without dates may begin at the zero of a clock as a whole.
    if (read.success && (!isDated || hasDate(entry))) {
      entries.push(read.data);
      continue;
    }
    unusable.first ??= inputErrorFrom(read.error?.issues ?? [NO_DATE], entry, [...entriesPlace, index]);
    unusable.count++;
    // The first is the page's document, as a rule: nothing else of a load can be understood without it.
    if (index === 0 || unusable.count >= log.entries.length / 2) throw unusable.first;
  }
  return { log: { ...log, entries }, unusable };
}

function hasDate(entry: unknown): boolean {
  const date = isoDate(objectOf(entry)?.startedDateTime);
  return date !== null && !isClockZero(date);
}

/** What BrowserMob Proxy until 2.0 writes in place of an answer's words, whatever the status. */
const NO_RESPONSE = /^no response$/i;

/** HTTP status; 0 when there was no response. A request without a status is taken to be answered unless it has an error. */
export function statusOf({ response }: Entry): number {
  if (NO_RESPONSE.test(response?.statusText ?? '')) return 0;
  const failed = typeof response?._error === 'string' && response._error !== '';
  return Math.max(0, Math.trunc(numberOf(response?.status) ?? (failed ? 0 : 200)));
}

/** Whether a response with this status has no content, which no browser shows as a page (HTML standard, "navigate"). */
export function isWithoutContent(status: number): boolean {
  return status === 204 || status === 205;
}

/** Whether a response with this status redirects. */
export function isRedirect(status: number): boolean {
  return status >= 301 && status <= 308 && status !== 304;
}

/** Whether a response with this status asks for credentials (RFC 9110 sections 15.5.2 and 15.5.8): a browser repeats the request with them. */
export function asksForCredentials(status: number): boolean {
  return status === 401 || status === 407;
}

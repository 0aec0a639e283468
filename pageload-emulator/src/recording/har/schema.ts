import * as z from 'zod/mini';
import { InputError, inputErrorFrom } from '../input-error.ts';
import { objectOf } from './values.ts';

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
const maybe = <T extends z.core.SomeType>(schema: T) => z.optional(z.nullable(schema));
const headers = maybe(
  z.custom<{ name: string; value?: unknown }[]>(
    (value) => Array.isArray(value) && value.every((header) => typeof objectOf(header)?.name === 'string'),
    'an array of headers, each with a name',
  ),
);

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
      entries: z.array(z.unknown(), 'an array of entries'),
    },
    'an object',
  ),
});

export type Entry = z.infer<typeof entrySchema>;
type Log = Omit<z.infer<typeof harSchema>['log'], 'entries'>;
export type Page = NonNullable<Log['pages']>[number];
export interface Har extends Log {
  entries: Entry[];
}

/** Of all pages in the file together; a page load has fewer by far. */
const MOST = { entries: 100_000, pages: 10_000 };

/**
 * The `log` of a HAR, as far as it is read.
 *
 * @throws InputError naming the place of the first thing that is not usable
 */
export function parseHar(input: unknown): Har {
  const lists = objectOf(objectOf(input)?.log);
  for (const [name, most] of Object.entries(MOST)) {
    const list = lists?.[name];
    if (Array.isArray(list) && list.length > most) {
      throw new InputError(`log.${name}: expected at most ${most} ${name}, got ${list.length}`);
    }
  }
  const parsed = harSchema.safeParse(input);
  if (!parsed.success) throw inputErrorFrom(parsed.error.issues, input);
  const { log } = parsed.data;
  // One by one, for a schema gathers all that is wrong, which in a large file is more than memory holds.
  const entries = log.entries.map((entry, index) => {
    const read = entrySchema.safeParse(entry);
    if (!read.success) throw inputErrorFrom(read.error.issues, entry, ['log', 'entries', index]);
    return read.data;
  });
  return { ...log, entries };
}

import * as z from 'zod/mini';
import { objectOf } from '../har/values.ts';
/** Events of a Chrome trace that tell of requests and page loads. */
export const EVENT_NAMES: ReadonlySet<string> = new Set([
  'navigationStart',
  'domContentLoadedEventEnd',
  'loadEventEnd',
  'firstContentfulPaint',
  'largestContentfulPaint::Candidate',
  'ResourceSendRequest',
  'ResourceReceiveResponse',
  'ResourceFinish',
]);

/** A time on either clock that a date can have. */
const time = (most: number) => z.number().check(z.gte(0), z.lte(most));
const number = z.optional(z.nullable(z.number()));
const text = z.optional(z.nullable(z.string()));
const flag = z.optional(z.nullable(z.boolean()));
const any = z.optional(z.unknown());

const timingSchema = z.object({
  /** Monotonic time, seconds. */
  requestTime: time(1e9),
  dnsStart: number,
  dnsEnd: number,
  connectStart: number,
  connectEnd: number,
  sslStart: number,
  sslEnd: number,
  sendStart: number,
  sendEnd: number,
  receiveHeadersStart: number,
  receiveHeadersEnd: number,
});
export type TraceTiming = z.infer<typeof timingSchema>;

/** What is read of an event; `data` has other fields for each kind of event. */
const eventSchema = z.object({
  name: z.string(),
  /** Monotonic time, microseconds. */
  ts: time(1e15),
  args: z.object({
    frame: text,
    data: z.optional(
      z.nullable(
        z.object({
          requestId: text,
          frame: text,
          url: text,
          requestMethod: text,
          priority: text,
          resourceType: text,
          renderBlocking: text,
          isLinkPreload: flag,
          initiator: any,
          stackTrace: any,
          statusCode: number,
          mimeType: text,
          protocol: text,
          fromCache: flag,
          fromServiceWorker: flag,
          connectionId: number,
          headers: any,
          timing: z.catch(z.optional(z.nullable(timingSchema)), undefined),
          /** Unix time, milliseconds. */
          responseTime: z.catch(z.optional(z.nullable(time(1e13))), undefined),
          encodedDataLength: number,
          decodedBodyLength: number,
          didFail: flag,
          /** Monotonic time, seconds. */
          finishTime: number,
          navigationId: text,
          documentLoaderURL: text,
          isOutermostMainFrame: flag,
          /** What older traces have in place of the former. */
          isLoadingMainFrame: flag,
        }),
      ),
    ),
  }),
});
export type TraceEvent = z.infer<typeof eventSchema>;
export type TraceData = NonNullable<TraceEvent['args']['data']>;

/** Reads the events that count, in order of time; others, and those that are not as Chrome writes them, are left out. */
export function readEvents(list: readonly unknown[]): TraceEvent[] {
  return list
    .filter((event) => EVENT_NAMES.has(String(objectOf(event)?.name)))
    .flatMap((event) => {
      const read = eventSchema.safeParse(event);
      return read.success ? [read.data] : [];
    })
    .sort((a, b) => a.ts - b.ts);
}

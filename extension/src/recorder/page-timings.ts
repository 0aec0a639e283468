/**
 * What the content script of a frame tells the worker. A renderer can be taken over by its page,
 * so the worker parses it as hostile input: types, ranges and lengths.
 */
import * as z from 'zod/mini';
import { MAX_ENTRIES, MAX_TEXT } from './limits.ts';

const ms = z.number().check(z.gte(-1e9), z.lte(1e9));
const bytes = z.number().check(z.nonnegative(), z.lte(1e12));
const url = z.string().check(z.maxLength(MAX_TEXT));
const word = z.string().check(z.maxLength(64));

/** PerformanceResourceTiming, as read; 0 stands for withheld (Resource Timing section 4.5). */
const resource = z.object({
  name: url,
  initiatorType: word,
  startTime: ms,
  fetchStart: ms,
  domainLookupStart: ms,
  domainLookupEnd: ms,
  connectStart: ms,
  secureConnectionStart: ms,
  connectEnd: ms,
  requestStart: ms,
  responseStart: ms,
  responseEnd: ms,
  transferSize: bytes,
  encodedBodySize: bytes,
  decodedBodySize: bytes,
  nextHopProtocol: word,
  /** '' where the browser does not say (Firefox). */
  renderBlockingStatus: word,
  deliveryType: word,
});

/** The frame's own navigation (Navigation Timing). */
const navigation = z.extend(resource, {
  domInteractive: ms,
  domContentLoadedEventEnd: ms,
  loadEventEnd: ms,
});

/** A script's request for a URL, noted by the hook before the browser starts it. */
const ask = z.object({
  kind: z.enum(['fetch', 'xhr', 'src', 'srcset']),
  /** Absolute, without fragment. */
  url,
  /** Milliseconds after the frame's time origin. */
  atMs: ms,
  /** Scripts on the stack, innermost first, each once. */
  scripts: z.array(url).check(z.maxLength(10)),
});

export const frameTimingsSchema = z.object({
  url,
  /** Milliseconds since 1970. */
  timeOrigin: z.number().check(z.gte(0), z.lte(1e14)),
  navigation: z.nullable(navigation),
  firstContentfulPaint: z.nullable(ms),
  largestContentfulPaint: z.nullable(ms),
  /** Of the image that was painted; null for text. */
  largestContentfulPaintUrl: z.nullable(url),
  resources: z.array(resource).check(z.maxLength(MAX_ENTRIES)),
  asks: z.array(ask).check(z.maxLength(MAX_ENTRIES)),
  /** Whether the hook in the page's world answered: without it, no ask means nothing. */
  hooked: z.boolean(),
});

/** From a frame at the top of a tab: the page has loaded and settled, or will not in time. */
export const pageSettledSchema = z.object({ type: z.literal('page-settled'), loaded: z.boolean() });

/**
 * From a frame at the top of a tab: the page came into view without a load, out of the
 * back/forward cache or prerendered.
 */
export const pageShownSchema = z.object({ type: z.literal('page-shown') });

export type ResourceEntry = z.infer<typeof resource>;
export type Ask = z.infer<typeof ask>;
export type FrameTimings = z.infer<typeof frameTimingsSchema>;
export type PageSettled = z.infer<typeof pageSettledSchema>;
export type PageShown = z.infer<typeof pageShownSchema>;

/** From the worker to the content script of a frame; answered with `FrameTimings`. */
export interface Collect {
  type: 'collect';
  /** Whether the frame may stop watching. */
  final: boolean;
}

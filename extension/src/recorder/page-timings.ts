/**
 * Messages of a frame's content script to the worker. A page can compromise its renderer,
 * so the worker parses them as untrusted input: types, ranges and lengths.
 */
import * as z from 'zod/mini';
import { MAX_ENTRIES, MAX_TEXT_CHARS } from './limits.ts';

const ms = z.number().check(z.gte(-1e9), z.lte(1e9));
const bytes = z.number().check(z.nonnegative(), z.lte(1e12));
/** When a document began, milliseconds since 1970: it names the document among those of a tab. */
const timeOriginSchema = z.number().check(z.gte(0), z.lte(1e14));
const url = z.string().check(z.maxLength(MAX_TEXT_CHARS));
const word = z.string().check(z.maxLength(64));

/** What made the element that requested a resource, or called for it. */
const maker = z.object({
  by: z.enum(['parser', 'script']),
  /** Names the script, without fragment: '' for an inline script, null where it is unknown. */
  scriptUrl: z.nullable(url),
});

/** PerformanceResourceTiming, as read; 0 stands for withheld (Resource Timing section 4.5). */
const timing = z.object({
  name: url,
  initiatorType: word,
  startTime: ms,
  /** 0 where no service worker had the request (Firefox: always). */
  workerStart: ms,
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
  /** '' where the browser does not report it (Firefox). */
  renderBlockingStatus: word,
  deliveryType: word,
  /** 0 where the browser withholds it, or does not report it. */
  responseStatus: z.number().check(z.gte(0), z.lte(999)),
});

const resource = z.extend(timing, {
  /** Null where nothing shows it. */
  maker: z.nullable(maker),
});

/** The frame's own navigation (Navigation Timing). */
const navigation = z.extend(timing, {
  domInteractive: ms,
  domContentLoadedEventEnd: ms,
  loadEventEnd: ms,
});

/** A script that has run. */
const scriptRun = z.object({
  /** Absolute, without fragment; '' for an inline script. */
  url,
  /** When it cannot have begun yet, milliseconds after the frame's time origin. */
  startMs: ms,
  /** End of the run, milliseconds after the frame's time origin. */
  endMs: ms,
  /** Whether a script created its element. False for some of those elements too: scripts can set them to run in order. */
  inserted: z.boolean(),
  /** Whether it runs only after the document was parsed (`defer`, modules). */
  deferred: z.boolean(),
});

export const frameTimingsSchema = z.object({
  url,
  /** Whether it is the tab's top frame. */
  isTop: z.boolean(),
  /** Whether its origin is opaque (`sandbox`): the browser withholds from it what its server answered. Absent for false. */
  isOpaque: z.optional(z.boolean()),
  timeOrigin: timeOriginSchema,
  /** When the document began by the system's clock, to the millisecond or less exactly, see `findSystemOrigin`; absent: as `timeOrigin`, which names it. */
  systemOrigin: z.optional(z.number().check(z.gte(-1e14), z.lte(1e14))),
  navigation: z.nullable(navigation),
  firstContentfulPaint: z.nullable(ms),
  largestContentfulPaint: z.nullable(ms),
  /** Names the image that was painted; null for text. */
  largestContentfulPaintUrl: z.nullable(url),
  resources: z.array(resource).check(z.maxLength(MAX_ENTRIES)),
  /** In order of their ends. */
  scriptRuns: z.array(scriptRun).check(z.maxLength(MAX_ENTRIES)),
});

/** From a frame: whether it may be recorded. Answered with a boolean. */
export const recordingCheckSchema = z.object({
  type: z.literal('check-recording'),
  /** Whether it is observed from its start on, as every frame of a page that is recorded in detail. */
  isDetailed: z.boolean(),
  timeOrigin: timeOriginSchema,
});

/** From a top frame: the page has loaded and settled, or its load event did not fire in time (`loaded` false), or it is left before that. */
export const pageSettledSchema = z.object({
  type: z.literal('page-settled'),
  loaded: z.boolean(),
  /** When the page was left, milliseconds after its time origin; null while it is there. Of a tab that is closed it seldom arrives. */
  leftMs: z.nullable(ms),
  /** Whether the page has frames of its own. */
  hasFrames: z.boolean(),
  /** Whether the page began to load in a hidden tab. */
  wasHidden: z.boolean(),
  /** Whether the page was hidden as its load event ended; absent for false. */
  endedHidden: z.optional(z.boolean()),
  /** What the browser measured until then. */
  timings: frameTimingsSchema,
});

/**
 * From a top frame: the page is shown without a load, from the back/forward cache or after prerendering.
 */
export const pageShownSchema = z.object({ type: z.literal('page-shown'), timeOrigin: timeOriginSchema });

export type RequestMaker = z.infer<typeof maker>;
export type ResourceEntry = z.infer<typeof timing>;
export type FrameResource = z.infer<typeof resource>;
export type ScriptRun = z.infer<typeof scriptRun>;
export type FrameTimings = z.infer<typeof frameTimingsSchema>;
export type RecordingCheck = z.infer<typeof recordingCheckSchema>;
export type PageSettled = z.infer<typeof pageSettledSchema>;
export type PageShown = z.infer<typeof pageShownSchema>;

/** From the worker to the content script of a frame; answered with `FrameTimings`. */
export interface Collect {
  type: 'collect';
  /** Whether the frame may stop observing. */
  final: boolean;
}

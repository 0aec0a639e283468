import type { Recording } from '@hopwise/contract';
import type { Page } from './schema.ts';
import { dateOf, LARGEST_NUMBER, numberOf } from './values.ts';

export type PageTimes = Pick<
  Recording,
  'pltMs' | 'domContentLoadedMs' | 'firstContentfulPaintMs' | 'largestContentfulPaintMs'
>;

/** When a load began, and what its page's times are from then on. */
export interface PageClock {
  /** Unix time, milliseconds. */
  startMs: number;
  /** From the start of the page's own clock to that of the load, milliseconds. */
  offsetMs: number;
  times: PageTimes;
}

/** A page that begins further from its first request was timed by another clock. */
const MAX_APART_MS = 60_000;
/** Recorders whose pages begin before they navigate: when the page object was made, or the capture begun. */
const BEGINS_EARLY = /playwright|browser(mob|up)/i;

/**
 * Places a page's times, which HAR 1.2 counts from `page.startedDateTime`. A load begins there, or with its first request where that one
 * is earlier, as redirects may be, or where the page began before the navigation. A page without times says nothing of a wait before its
 * first request (HTTP Toolkit's begins with the program). The times belong to the navigation in which they fall.
 * Times by another clock than that of the requests are counted from the first of these.
 *
 * @param firstMs when the load's first request was issued, Unix time in milliseconds
 * @param isFirst whether the load is the page's first navigation
 * @param endsAt when the page's next navigation began, Unix time in milliseconds
 */
export function pageClock(
  page: Page | undefined,
  creator: string | null | undefined,
  {
    firstMs,
    isFirst,
    endsAt,
    isOtherClock,
  }: { firstMs: number; isFirst: boolean; endsAt: number; isOtherClock: boolean },
): PageClock {
  const beginsEarly = BEGINS_EARLY.test(creator ?? '');
  const givenMs = dateOf(page?.startedDateTime);
  const times = timesOf(page);
  const isUntimed = Object.values(times).every((ms) => ms === null);
  const isEarly = (beginsEarly || isUntimed || !isFirst) && givenMs <= firstMs && !isOtherClock;
  const isNear = Math.abs(firstMs - givenMs) < MAX_APART_MS && !isOtherClock;
  const pageMs = isEarly || isNear ? givenMs : firstMs;
  const startMs = isEarly ? firstMs : Math.min(pageMs, firstMs);
  const offsetMs = startMs - pageMs;
  const place = (ms: number | null) => {
    const placedMs = ms === null ? null : ms - offsetMs;
    const isOwn = isFirst || isEarly;
    return isOwn && placedMs !== null && placedMs > 0 && startMs + placedMs <= endsAt ? placedMs : null;
  };
  return {
    startMs,
    offsetMs,
    times: {
      pltMs: place(times.pltMs),
      domContentLoadedMs: place(times.domContentLoadedMs),
      firstContentfulPaintMs: place(times.firstContentfulPaintMs),
      largestContentfulPaintMs: place(times.largestContentfulPaintMs),
    },
  };
}

/** What a page says of its times, counted from its beginning. */
export function timesOf(page: Page | undefined): PageTimes {
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
  const isUsable = (value: number | null): value is number =>
    value !== null && value > 0 && value <= LARGEST_NUMBER;
  return values.map(numberOf).find(isUsable) ?? null;
}

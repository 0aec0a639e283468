import { originOf } from '../../util/url.ts';
import type { TraceEvent } from './trace-events.ts';

/** A navigation of a trace's main frame. */
export interface TracePage {
  /** Monotonic time, microseconds. */
  startTs: number;
  frame: string;
  page: { id: string; startedDateTime: string; title: string; pageTimings: Record<string, number> };
}

/** By event: the field of a HAR's page timings with its time. */
const TIMED = new Map([
  ['domContentLoadedEventEnd', 'onContentLoad'],
  ['loadEventEnd', 'onLoad'],
  ['firstContentfulPaint', '_firstContentfulPaint'],
  ['largestContentfulPaint::Candidate', '_largestContentfulPaint'],
]);

/** Finds the navigations of the main frame with the times of their events. */
export function pagesIn(events: readonly TraceEvent[], wallMs: (ts: number) => number): TracePage[] {
  const pages: TracePage[] = [];
  let own: TracePage | undefined;
  for (const { name, ts, args } of events) {
    const { data, frame } = args;
    if (name === 'navigationStart') {
      const url = data?.documentLoaderURL ?? '';
      const isMain = data?.isOutermostMainFrame ?? data?.isLoadingMainFrame ?? true;
      // The navigation of a document that is not there yet has no URL.
      if (frame == null || url === '' || !isMain) continue;
      // The browser's own pages, such as that of an error, end their load, too.
      own = undefined;
      if (originOf(url) === null) continue;
      const id = data?.navigationId ?? `${ts}`;
      const startedDateTime = new Date(wallMs(ts)).toISOString();
      own = { startTs: ts, frame, page: { id, startedDateTime, title: url, pageTimings: {} } };
      pages.push(own);
      continue;
    }
    const field = TIMED.get(name);
    if (field === undefined || own === undefined || frame !== own.frame) continue;
    // The page that was left, or the blank one before it, may still end its load: what counts comes later.
    own.page.pageTimings[field] = (ts - own.startTs) / 1_000;
  }
  return pages;
}

import { NO_PHASES, type RecordedRequest, type Recording } from '@hopwise/contract';
import { askedForBy } from './asked-for.ts';
import { redirectChain, type TimedEntry } from './navigations.ts';
import type { Page } from './schema.ts';
import { dateOf, lengthOf } from './values.ts';

/** A page that begins no later than this after its document had ended, milliseconds, is not read as one that was fetched ahead. */
const MIN_LATE_MS = 100;

/**
 * What the time means at which a page is said to begin:
 *
 * - `navigation`: the navigation began then, as HAR 1.2 has it, or of its last redirect.
 * - `shown`: the page was fetched ahead, as where it is prerendered, and began as it was shown.
 * - `other-clock`: it was timed by another clock than its requests: its load event comes before the first of them, or all that the event
 *   waits for came before the page, and fits into the load from the first of them on.
 */
export type Beginning = 'navigation' | 'shown' | 'other-clock';

/**
 * Finds what the time means at which a page is said to begin. Where a script went on from the first document to another one, the page may begin with that
 * one: a navigation as well.
 *
 * @param ordered the navigation's requests in order of start, its document among them
 */
export function beginningOf(page: Page | undefined, ordered: readonly TimedEntry[]): Beginning {
  const document = redirectChain(ordered).at(-1)!;
  const beganMs = dateOf(page?.startedDateTime);
  const loadMs = lengthOf(page?.pageTimings?.onLoad);
  if (loadMs === 0) return 'navigation';
  if (beganMs + loadMs <= ordered[0]!.startMs) return 'other-clock';
  const isLate = beganMs - document.endMs > MIN_LATE_MS && lengthOf(document.entry.time) > 0;
  if (!isLate) return 'navigation';
  const isSentOn = ordered.some(
    ({ entry, type, startMs }) =>
      type === 'document' &&
      Math.abs(startMs - beganMs) <= MIN_LATE_MS &&
      askedForBy(entry).kind !== 'parser',
  );
  if (isSentOn) return 'navigation';
  let endMs = document.endMs;
  for (const each of ordered) {
    const mayBlockLoad = !/^(fetch|beacon|media|other)$/.test(each.type);
    if (mayBlockLoad && each.startMs < beganMs + loadMs) endMs = Math.max(endMs, each.endMs);
  }
  return endMs > ordered[0]!.startMs + loadMs + MIN_LATE_MS ? 'shown' : 'other-clock';
}

/**
 * Whether a page is said to begin when all of its requests had ended: it was timed by another clock, such as that of its recording. Without its
 * document nothing tells how far the two are apart.
 */
export function beganAfter(page: Page | undefined, ordered: readonly TimedEntry[]): boolean {
  const beganMs = dateOf(page?.startedDateTime);
  return ordered.every(({ endMs }) => beganMs - endMs > MIN_LATE_MS);
}

/**
 * Times a load from when its page was shown. What had been fetched by then was there, as if from a cache; of what was under way no phase is
 * a whole one.
 *
 * @param shownMs after its first request, milliseconds
 */
export function fromShowing(recording: Recording, shownMs: number): Recording {
  const since = (ms: number | null) => (ms === null ? null : ms - shownMs);
  const requests = recording.requests.map((request): RecordedRequest => {
    const { startMs, endMs, phases } = request;
    if (endMs <= shownMs)
      return {
        ...request,
        startMs: 0,
        endMs: 0,
        phases: NO_PHASES,
        protocol: null,
        transferBytes: 0,
        bodyBytes: 0,
        fromCache: true,
        connectionId: null,
      };
    if (startMs < shownMs) return { ...request, startMs: 0, endMs: endMs - shownMs, phases: NO_PHASES };
    const moved = Object.entries(phases).map(([name, ms]) => [name, since(ms)]);
    return {
      ...request,
      startMs: startMs - shownMs,
      endMs: endMs - shownMs,
      phases: Object.fromEntries(moved),
    };
  });
  return {
    ...recording,
    recordedAt: new Date(Date.parse(recording.recordedAt) + shownMs).toISOString(),
    pltMs: since(recording.pltMs),
    domContentLoadedMs: since(recording.domContentLoadedMs),
    firstContentfulPaintMs: since(recording.firstContentfulPaintMs),
    largestContentfulPaintMs: since(recording.largestContentfulPaintMs),
    requests,
  };
}

import { CLOCK_SLACK_MS, type Recording } from '@hopwise/contract';
import { mayBlockLoad } from '../load-requests.ts';
import { MAX_LOAD_MS, type RequestDraft } from '../requests/draft.ts';
import type { PageTimes } from './page-clock.ts';
import { isRedirect } from './schema.ts';

/**
 * WebPageTest takes a page for loaded when nothing has been under way for two seconds
 * (https://docs.webpagetest.org/metrics/page-metrics/, "Fully Loaded").
 */
const SILENCE_MS = 2_000;
/** A load event that comes after nothing was under way for so long is not this load's. */
const LONG_SILENCE_MS = 60_000;
/** Recorders that time pages by a clock of their own, which began before the page (Safari). */
const TIMES_BY_OWN_CLOCK = /web inspector$/i;
/** That this many requests all begin on whole seconds, or most of them before the page was answered, is no coincidence. */
const MIN_ALIKE = 6;
/** A page whose document is in the file and came over the network cannot lead to more than this share of its requests before the answer. */
const MAX_EARLY = 0.7;
/** Recorders whose `onLoad` is the length of the capture. */
const TIMES_CAPTURES = /browser(mob|up)/i;

const NO_TIMES: PageTimes = {
  pltMs: null,
  domContentLoadedMs: null,
  firstContentfulPaintMs: null,
  largestContentfulPaintMs: null,
};

/** A load's times as far as they can be believed, and the requests that belong to it. */
interface LoadEnd {
  times: PageTimes;
  kept: RequestDraft[];
  /** Why the load event in the file is not taken; null where it is, or where there is none. */
  refuted: string | null;
}

/**
 * Checks a load's times by its requests: a load event does not come before the document's first byte, nor a minute after all was silent.
 * Without a load event, what begins after a silence is no part of the load. A set of transfers is no load that a silence could end: all
 * of a day belong to it.
 *
 * @param ordered in order of start, the first being the navigation's
 * @param document what answered the navigation; null where that is not in the file
 * @param missing whether there was a navigation
 */
export function loadEnd(
  ordered: readonly RequestDraft[],
  document: RequestDraft | null,
  times: PageTimes,
  creator: string | null | undefined,
  missing: Pick<Recording, 'missing'>,
): LoadEnd {
  const firstByteMs = document?.phases.responseStartMs ?? document?.startMs ?? 0;
  const possible = (ms: number | null) => (ms !== null && ms + CLOCK_SLACK_MS >= firstByteMs ? ms : null);
  const checked: PageTimes = {
    pltMs: possible(times.pltMs),
    domContentLoadedMs: possible(times.domContentLoadedMs),
    firstContentfulPaintMs: possible(times.firstContentfulPaintMs),
    largestContentfulPaintMs: possible(times.largestContentfulPaintMs),
  };
  const refuted = refutation(ordered, document, times.pltMs, checked.pltMs, creator, missing);
  if (checked.pltMs !== null && refuted === null) return { times: checked, kept: [...ordered], refuted };
  const lastStartMs =
    missing.missing === 'navigation' ? MAX_LOAD_MS : silenceAfter(ordered, SILENCE_MS, missing) + SILENCE_MS;
  const kept = ordered.filter(({ startMs }) => startMs <= lastStartMs);
  const isOther = refuted !== null && TIMES_BY_OWN_CLOCK.test(creator ?? '');
  return { times: isOther ? NO_TIMES : { ...checked, pltMs: null }, kept, refuted };
}

function refutation(
  ordered: readonly RequestDraft[],
  document: RequestDraft | null,
  recordedMs: number | null,
  possibleMs: number | null,
  creator: string | null | undefined,
  missing: Pick<Recording, 'missing'>,
): string | null {
  if (recordedMs === null) return null;
  if (possibleMs === null) return 'comes before the first byte of the page';
  if (TIMES_CAPTURES.test(creator ?? '')) return 'is the end of the capture';
  if (beginOnSeconds(ordered)) return 'is no use beside requests that all begin on whole seconds';
  if (document !== null && beginBeforeAnswer(ordered, document))
    return 'is no use beside requests that begin before the page was answered';
  const longestMs = TIMES_BY_OWN_CLOCK.test(creator ?? '') ? SILENCE_MS : LONG_SILENCE_MS;
  const isLate = possibleMs - silenceAfter(ordered, longestMs, missing) > longestMs;
  return isLate ? 'comes long after all was silent' : null;
}

/** Whether requests are timed to the second. */
function beginOnSeconds(ordered: readonly RequestDraft[]): boolean {
  const [{ startMs: firstMs } = { startMs: 0 }] = ordered;
  const isApart = (ms: number) => Math.abs(ms - firstMs) % 1000 === 0;
  const isSpread = ordered.some(({ startMs }) => startMs !== firstMs);
  return ordered.length >= MIN_ALIKE && isSpread && ordered.every(({ startMs }) => isApart(startMs));
}

/** Whether what a recorder gives as starts is another time, such as that of all requests' recording. */
function beginBeforeAnswer(ordered: readonly RequestDraft[], document: RequestDraft): boolean {
  const others = ordered.filter(
    (draft) => draft !== document && !draft.fromCache && !isRedirect(draft.status),
  );
  const answeredMs = earliestAnswer(document, others);
  const early = others.filter(({ startMs }) => startMs < answeredMs - CLOCK_SLACK_MS);
  return !document.fromCache && others.length >= MIN_ALIKE && early.length > MAX_EARLY * others.length;
}

/**
 * When the first byte of a document came, milliseconds; at the earliest where its recorder does not tell waiting from receiving: HTML that is sent in parts
 * leads to requests from its first part on, but nothing is answered sooner than the fastest of all.
 */
function earliestAnswer(document: RequestDraft, others: readonly RequestDraft[]): number {
  const { responseStartMs } = document.phases;
  if (responseStartMs !== null && responseStartMs < document.endMs) return responseStartMs;
  const shortestMs = [document, ...others].reduce(
    (least, { startMs, endMs }) => Math.min(least, endMs - startMs),
    Number.POSITIVE_INFINITY,
  );
  return document.startMs + shortestMs;
}

/** When the first silence of a length began, in which nothing that may delay the load was under way; else when all had ended. */
function silenceAfter(
  ordered: readonly RequestDraft[],
  lengthMs: number,
  missing: Pick<Recording, 'missing'>,
): number {
  let busyMs = Number.NEGATIVE_INFINITY;
  for (const draft of ordered) {
    if (busyMs > Number.NEGATIVE_INFINITY && draft.startMs > busyMs + lengthMs) return busyMs;
    if (busyMs === Number.NEGATIVE_INFINITY || mayBlockLoad(draft, missing))
      busyMs = Math.max(busyMs, draft.endMs);
  }
  return busyMs;
}

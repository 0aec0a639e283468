import { siteKey } from '../../util/site.ts';
import { originOf, resolveReference } from '../../util/url.ts';
import { askedForBy, isByOwnScripts } from './asked-for.ts';
import { headerOf, locationOf } from './headers.ts';
import { type Entry, isRedirect, isWithoutContent, statusOf } from './schema.ts';
import { isNavigated, isSpeculative, typeOf } from './types.ts';
import { urlKey } from './urls.ts';
import { lengthOf } from './values.ts';

/** An entry with what parts navigations. */
export interface TimedEntry {
  entry: Entry;
  /** Unix time, milliseconds. */
  startMs: number;
  /** When its response had ended, by its whole `time`. */
  endMs: number;
  type: ReturnType<typeof typeOf>['type'];
}

/** Entries in order of start. */
export function timed(entries: readonly Entry[]): TimedEntry[] {
  return entries
    .map((entry) => {
      const startMs = Date.parse(entry.startedDateTime);
      const endMs = startMs + lengthOf(entry.time);
      // Extensions' pages, and empty ones from which tests begin, are no documents of a load, nor are answers that show nothing.
      const { type: likely } = typeOf(entry);
      const showsNone = likely === 'document' && isWithoutContent(statusOf(entry));
      const type = showsNone || originOf(entry.request.url) === null ? 'other' : likely;
      return { entry, startMs, endMs, type };
    })
    .sort((a, b) => a.startMs - b.startMs);
}

/** Nothing that delays a load is under way for so long before a user leaves a page; a page that sends its visitor on does so at once. */
const QUIET_MS = 500;
/** The same where headers do not tell a navigation from a late frame, and where scripts of the page itself led to it. */
const LONG_QUIET_MS = 2_000;
/** A page that sends its visitor on to another one does so within this time. */
const MAX_CLIENT_REDIRECT_MS = 5_000;

/**
 * Parts a page's requests where another document was navigated to, as recorders write several loads into one page: Playwright and
 * Firefox do, and proxies know no pages. Fetch Metadata tells documents from frames, or the frame that Playwright names; without them a
 * document that nothing on the page requested, whose requests name it as their page, or which is the same again, counts when it comes after
 * a silence. A document that a page leads to at once
 * (client-side redirects, challenges) belongs to the load.
 */
export function partNavigations(ordered: readonly TimedEntry[]): TimedEntry[][] {
  const parts: TimedEntry[][] = [[]];
  const referring = lastReferring(ordered);
  const own = new Set<string>();
  let document: TimedEntry | null = null;
  /** Until when requests that may delay the load were under way. */
  let busyMs = Number.NEGATIVE_INFINITY;
  /** The same with those of scripts, which may wait for them before they navigate. */
  let fetchingMs = Number.NEGATIVE_INFINITY;
  for (const [index, next] of ordered.entries()) {
    if (next.type === 'document') {
      const quietMs = next.startMs - busyMs;
      const isQuiet = isByOwnScripts(askedForBy(next.entry), own)
        ? next.startMs - fetchingMs >= LONG_QUIET_MS
        : quietMs >= QUIET_MS;
      if (document !== null && isNext(document, next, isQuiet, quietMs, referring, index)) parts.push([]);
      if (document === null || parts.at(-1)!.length === 0 || follows(document, next)) document = next;
    }
    parts.at(-1)!.push(next);
    own.add(urlKey(next.entry.request.url));
    if (!/^(beacon|media|other)$/.test(next.type)) {
      fetchingMs = Math.max(fetchingMs, next.endMs);
      if (next.type !== 'fetch') busyMs = Math.max(busyMs, next.endMs);
    }
  }
  return parts;
}

function isNext(
  document: TimedEntry,
  next: TimedEntry,
  isQuiet: boolean,
  quietMs: number,
  referring: ReadonlyMap<string, number>,
  index: number,
): boolean {
  const { entry } = next;
  if (follows(document, next) || isSpeculative(entry)) return false;
  if (statusOf(document.entry) === 0 && isNavigated(entry) !== false && isOfTab(entry)) return true;
  const destination = headerOf(entry.request, 'sec-fetch-dest');
  if (destination !== null) {
    if (destination.toLowerCase() !== 'document') return false;
    const isByUser = headerOf(entry.request, 'sec-fetch-user') !== null;
    return isByUser || isQuiet || next.startMs - document.startMs >= MAX_CLIENT_REDIRECT_MS;
  }
  const { _frameref: frame } = document.entry;
  if (typeof frame === 'string' && typeof entry._frameref === 'string') {
    if (entry._frameref !== frame) return false;
    return isQuiet || next.startMs - document.startMs >= MAX_CLIENT_REDIRECT_MS;
  }
  const asked = askedForBy(entry);
  if (typeOf(entry).named && asked.byBrowser) {
    // Forms in frames are sent by the browser, too, to other sites.
    if (siteKey(entry.request.url) !== siteKey(document.entry.request.url)) return quietMs >= LONG_QUIET_MS;
    return isQuiet || next.startMs - document.startMs >= MAX_CLIENT_REDIRECT_MS;
  }
  const isPage = isNavigated(entry) !== false && [...asked.urls].length === 0;
  const takesOver =
    (referring.get(urlKey(entry.request.url)) ?? -1) > index &&
    (referring.get(urlKey(document.entry.request.url)) ?? -1) <= index;
  // A page is no frame of its own.
  const isReload =
    isNavigated(entry) === true && urlKey(entry.request.url) === urlKey(document.entry.request.url);
  return isPage && (takesOver || isReload) && quietMs >= LONG_QUIET_MS;
}

/** Whether a document is not known to be a frame's. */
function isOfTab(entry: Entry): boolean {
  return /^document$/i.test(headerOf(entry.request, 'sec-fetch-dest') ?? 'document');
}

/** Whether a request is the target of a redirect. */
export function follows(redirect: { entry: Entry }, next: { entry: Entry }): boolean {
  return targetKey(redirect) === urlKey(next.entry.request.url);
}

/** Names the URL that a redirect leads to; null where it names none, and for other answers. */
function targetKey({ entry }: { entry: Entry }): string | null {
  const location = locationOf(entry);
  if (!isRedirect(statusOf(entry)) || location === null) return null;
  return urlKey(resolveReference(location, entry.request.url));
}

/**
 * The first request and what its redirects led to. Pages that are left may still ask for something in between; where the target that a
 * redirect names is not in the file, or it names none, the next request stands for it.
 *
 * @param ordered requests in order of start; not empty
 * @returns them from the first to what answered, or to the last redirect of the file
 */
export function redirectChain<T extends { entry: Entry }>(ordered: readonly T[]): T[] {
  const chain = [ordered[0]!];
  if (!isRedirect(statusOf(ordered[0]!.entry))) return chain;
  const placesOf = new Map<string, number[]>();
  for (const [place, { entry }] of ordered.entries()) {
    const key = urlKey(entry.request.url);
    const places = placesOf.get(key);
    if (places) places.push(place);
    else placesOf.set(key, [place]);
  }
  let at = 0;
  while (isRedirect(statusOf(chain.at(-1)!.entry))) {
    const after = placesOf.get(targetKey(ordered[at]!) ?? '')?.find((place) => place > at);
    at = after ?? at + 1;
    const next = ordered[at];
    if (next === undefined) break;
    chain.push(next);
  }
  return chain;
}

/** By page: the position of the last request that names it in its `Referer`. */
function lastReferring(ordered: readonly TimedEntry[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const [index, { entry }] of ordered.entries()) {
    const referer = headerOf(entry.request, 'referer');
    if (referer !== null) last.set(urlKey(referer), index);
  }
  return last;
}

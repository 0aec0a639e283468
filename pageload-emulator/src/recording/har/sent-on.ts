/**
 * Client-side redirects: pages whose script sends the visitor on at once (`location = …`). To a person the whole way is one load, as it is
 * with redirects of servers.
 */
import { askedForBy, isByOwnScripts } from './asked-for.ts';
import { headerOf } from './headers.ts';
import { follows, partNavigations, redirectChain, timed } from './navigations.ts';
import { timesOf } from './page-clock.ts';
import type { PageEntries } from './pages.ts';
import { asksForCredentials, type Entry, type Page, statusOf } from './schema.ts';
import { isSpeculative, typeOf } from './types.ts';
import { urlKey } from './urls.ts';
import { dateOf } from './values.ts';

/** A way of more pages is no load: browsers follow no more redirects of servers either (Fetch standard, "HTTP-redirect fetch"). */
const MAX_TURNS = 20;

/**
 * Joins pages of a file with those that they sent their visitor on to at once: recorders list each as a page of its own.
 *
 * @param pages in order of the file
 */
export function joinSentOn(pages: readonly PageEntries[]): PageEntries[] {
  const joined: PageEntries[] = [];
  let turns = 0;
  for (const next of pages) {
    const before = joined.at(-1);
    const both = before && turns < MAX_TURNS ? joinPages(before, next) : null;
    if (both) joined.pop();
    turns = both ? turns + 1 : 0;
    joined.push(both ?? next);
  }
  return joined;
}

/** Two pages as one load; null where they are two. */
function joinPages(before: PageEntries, next: PageEntries): PageEntries | null {
  const ordered = timed(next.entries);
  const [first] = ordered;
  if (before.page === undefined || next.page === undefined || first?.type !== 'document') return null;
  if (!isByScript(first.entry, new Set(before.entries.map(({ request }) => urlKey(request.url)))))
    return null;
  const target = redirectChain(ordered).at(-1)!;
  // A page that goes on is in another tab: one that is left may still send what it counted.
  if (timed(before.entries).some(({ type, startMs }) => type !== 'beacon' && startMs > target.endMs))
    return null;
  const apartMs = dateOf(next.page.startedDateTime) - dateOf(before.page.startedDateTime);
  const entries = [...before.entries, ...next.entries];
  if (!(apartMs >= 0) || partNavigations(timed(entries)).length > 1) return null;
  const sentOn = next.sentOn ?? target.entry.request.url;
  return { page: endingAs(before.page, next.page, apartMs), entries, sentOn };
}

/** A page that has the times of another one, which began later. */
function endingAs({ id, startedDateTime, title }: Page, last: Page, apartMs: number): Page {
  const times = timesOf(last);
  const later = (ms: number | null) => (ms === null ? null : ms + apartMs);
  return {
    id,
    startedDateTime,
    title,
    pageTimings: {
      onLoad: later(times.pltMs),
      onContentLoad: later(times.domContentLoadedMs),
      _firstContentfulPaint: later(times.firstContentfulPaintMs),
      _largestContentfulPaint: later(times.largestContentfulPaintMs),
    },
  };
}

/** Whether a script of a page navigated to a document, and no click or key. @param own keys of URLs of the page's requests */
function isByScript(document: Entry, own: ReadonlySet<string>): boolean {
  if (headerOf(document.request, 'sec-fetch-user') !== null || isSpeculative(document)) return false;
  const asked = askedForBy(document);
  if (asked.kind !== null || asked.byBrowser) return isByOwnScripts(asked, own);
  const referer = headerOf(document.request, 'referer');
  return referer !== null && isOfTab(document) && own.has(urlKey(referer));
}

/** Whether a browser repeated a request with the credentials that its answer asked for. */
const isRepeated = (asking: Entry, { request }: Entry): boolean =>
  asksForCredentials(statusOf(asking)) && urlKey(asking.request.url) === urlKey(request.url);

const isOfTab = ({ request }: Entry): boolean =>
  /^document$/i.test(headerOf(request, 'sec-fetch-dest') ?? '');

/**
 * Finds the page that a load's visitor was sent on to by a script, as far as Fetch Metadata tells it from a frame.
 *
 * @param entries of one load, in order of start
 * @returns its URL; null for none
 */
export function findSentOn(entries: readonly Entry[]): string | null {
  const own = new Set<string>();
  let document: Entry | null = null;
  let url: string | null = null;
  for (const entry of entries) {
    if (typeOf(entry).type === 'document') {
      const isTarget =
        document !== null && (follows({ entry: document }, { entry }) || isRepeated(document, entry));
      if (isTarget ? url !== null : isOfTab(entry) && isByScript(entry, own)) url = entry.request.url;
      if (document === null || isTarget || isOfTab(entry)) document = entry;
    }
    own.add(urlKey(entry.request.url));
  }
  return url;
}

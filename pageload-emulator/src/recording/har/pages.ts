import { groupBy } from '@hopwise/contract';
import { firstIndexWhere } from '../../util/ordered.ts';
import { askedForBy } from './asked-for.ts';
import { headerOf } from './headers.ts';
import type { Entry, Har, Page } from './schema.ts';
import { isSpeculative, typeOf } from './types.ts';
import { urlKey } from './urls.ts';
import { dateOf, lengthOf } from './values.ts';

/** A page of a file. */
export interface PageEntries {
  /** Undefined when the file lists no pages. */
  page: Page | undefined;
  /** Its requests, in order of the file; none for some pages. */
  entries: Entry[];
  /** URL of the page that its visitor was sent on to by a script, where the file lists that as another page. */
  sentOn?: string;
}

/** A page with when it began, Unix time in milliseconds. */
interface BegunPage {
  from: number;
  of: PageEntries;
}

/**
 * Parts a file's requests by page, in order of their beginnings: DevTools lists them as its table is sorted. Pages with the same id are distinguished by time, and so is to which page a request belongs that names
 * none, or one that is not listed; when the file lists no pages, the requests' page references make them up. All requests are of no page when
 * all name pages that are not listed. Requests of frames that a file lists as pages are of the page that they are in.
 */
export function pagesOf(log: Har): PageEntries[] {
  const entries = turnOldestFirst(log.entries);
  const pages = byBeginning(log.pages?.length ? log.pages : namedPages(entries));
  if (pages.length <= 1) return [{ page: pages[0], entries }];
  const own = pages.map((page): PageEntries => ({ page, entries: [] }));
  // The same id may be a number in one place and text in another.
  const byId = new Map(
    [...groupBy(own, ({ page }) => String(page!.id))].map(([id, same]) => [id, inOrder(same)]),
  );
  const all = inOrder(own);
  let isAny = false;
  const placed = entries.map((entry) => {
    const { pageref } = entry;
    const listed = pageref == null ? undefined : byId.get(String(pageref));
    const page = pageAt(listed ?? all, Date.parse(entry.startedDateTime));
    page.entries.push(entry);
    isAny ||= pageref == null || listed !== undefined;
    return { page, entry };
  });
  if (!isAny || areRequests(own)) return [{ page: undefined, entries }];
  const hosts = hostsOfFrames(own);
  if (hosts.size === 0) return own;
  const gathered = groupBy(placed, ({ page }) => hosts.get(page) ?? page);
  return own
    .filter((page) => !hosts.has(page))
    .map((each) => ({ page: each.page, entries: (gathered.get(each) ?? []).map(({ entry }) => entry) }));
}

/** Turns the requests of a file round that lists them newest first: of those that began at once, the file's order shows which came first. */
function turnOldestFirst(entries: Entry[]): Entry[] {
  const starts = entries.map(({ startedDateTime }) => Date.parse(startedDateTime));
  const isFalling = starts.every((ms, index) => index === 0 || ms <= starts[index - 1]!);
  return isFalling && starts[0]! > starts.at(-1)! ? entries.toReversed() : entries;
}

/** What no page is. */
const PART_OF_PAGE = /^(style|script|image|font)$/;

/** Whether a file's pages are its requests: each has those of the URL that it is called alone, and some are what pages consist of. */
function areRequests(pages: readonly PageEntries[]): boolean {
  const isOfOne = ({ page, entries }: PageEntries) =>
    loadMs(page) === 0 && entries.every(({ request }) => urlKey(request.url) === urlKey(page?.title ?? ''));
  return (
    pages.every(isOfOne) &&
    pages.some(({ entries }) => entries.some((entry) => PART_OF_PAGE.test(typeOf(entry).type)))
  );
}

/**
 * Finds the pages of a file that are frames of another one, by what follows each document as a page: one whose document was requested for a
 * frame, or one without a load event that began before that of the page under way, which a navigation would have prevented.
 *
 * @returns by frame: the page that it is in
 */
function hostsOfFrames(pages: readonly PageEntries[]): Map<PageEntries, PageEntries> {
  const hosts = new Map<PageEntries, PageEntries>();
  const begun = pages.flatMap((of): (BegunPage & { firstMs: number }) | [] => {
    const from = dateOf(of.page?.startedDateTime);
    if (Number.isNaN(from) || of.entries.length === 0) return [];
    // A frame may be listed as begun when its page began.
    const firstMs = of.entries.reduce(
      (first, entry) => Math.min(first, Date.parse(entry.startedDateTime)),
      Infinity,
    );
    return { from, of, firstMs: Math.max(from, firstMs) };
  });
  let host: BegunPage | null = null;
  for (const next of begun.sort((a, b) => a.firstMs - b.firstMs)) {
    if (host !== null && isFrameOf({ from: next.firstMs, of: next.of }, host)) hosts.set(next.of, host.of);
    else host = next;
  }
  return hosts;
}

function isFrameOf({ from, of }: BegunPage, host: BegunPage): boolean {
  const isLoaded = loadMs(of.page) > 0;
  const isWithin = !isLoaded && from < host.from + loadMs(host.of.page);
  const document = of.entries.find((entry) => /^(document|iframe)$/.test(typeOf(entry).type));
  if (document === undefined) return isWithin;
  const { type, named } = typeOf(document);
  if (isSpeculative(document)) return false;
  // A page whose own document is not in the file has frames, too.
  if (type === 'iframe') return isWithin || of.entries[0] === document;
  const { kind, byBrowser } = askedForBy(document);
  const isOfTab = (named && byBrowser) || headerOf(document.request, 'sec-fetch-dest') !== null;
  return kind === 'parser' ? !isLoaded : isWithin && !isOfTab;
}

/** When a page's load event came after its beginning, milliseconds; 0 when that is not known. */
function loadMs(page: Page | undefined): number {
  return lengthOf(page?.pageTimings?.onLoad) || lengthOf(page?._loadTime);
}

/** A file's pages in order of their beginnings; as listed where one has no date. */
function byBeginning(pages: readonly Page[]): readonly Page[] {
  const isDated = pages.every(({ startedDateTime }) => !Number.isNaN(dateOf(startedDateTime)));
  if (!isDated) return pages;
  return pages.toSorted((a, b) => dateOf(a.startedDateTime) - dateOf(b.startedDateTime));
}

/** Pages in order of their beginnings, the first listed one from ever; without other ones that have no date or began at the same time. */
function inOrder([first, ...others]: readonly PageEntries[]): BegunPage[] {
  const firstMs = dateOf(first!.page?.startedDateTime);
  const begun = others.flatMap((of): BegunPage | [] => {
    const from = dateOf(of.page?.startedDateTime);
    return Number.isNaN(from) || from === firstMs ? [] : { from, of };
  });
  return [{ from: Number.NEGATIVE_INFINITY, of: first! }, ...begun.sort((a, b) => a.from - b.from)];
}

/** The page of those in order that had begun last at a time. */
function pageAt(begun: readonly BegunPage[], at: number): PageEntries {
  return begun[firstIndexWhere(begun, ({ from }) => from > at) - 1]!.of;
}

function namedPages(entries: readonly Entry[]): Page[] {
  const ids = new Set(entries.map(({ pageref }) => pageref));
  return [...ids].flatMap((id) => (id == null ? [] : [{ id }]));
}

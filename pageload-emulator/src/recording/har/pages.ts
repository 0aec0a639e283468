import { groupBy } from '@hopwise/contract';
import { firstIndexWhere } from '../../util/ordered.ts';
import type { Entry, Har, Page } from './schema.ts';
import { dateOf } from './values.ts';

/** A page of a file. */
export interface PageEntries {
  /** Undefined when the file lists no pages. */
  page: Page | undefined;
  /** Its requests, in order of the file; none for some pages. */
  entries: Entry[];
}

/** A page with when it began, Unix time in milliseconds. */
interface BegunPage {
  from: number;
  of: PageEntries;
}

/**
 * Parts a file's requests by page. Pages with the same id are distinguished by time, and so is to which page a request belongs that names
 * none, or one that is not listed; when the file lists no pages, the requests' page references make them up. All requests are of no page when
 * all name pages that are not listed.
 */
export function pagesOf(log: Har): PageEntries[] {
  const pages = log.pages?.length ? log.pages : namedPages(log.entries);
  if (pages.length <= 1) return [{ page: pages[0], entries: log.entries }];
  const own = pages.map((page): PageEntries => ({ page, entries: [] }));
  // The same id may be a number in one place and text in another.
  const byId = new Map(
    [...groupBy(own, ({ page }) => String(page!.id))].map(([id, same]) => [id, inOrder(same)]),
  );
  const all = inOrder(own);
  let isAny = false;
  for (const entry of log.entries) {
    const { pageref } = entry;
    const listed = pageref == null ? undefined : byId.get(String(pageref));
    pageAt(listed ?? all, Date.parse(entry.startedDateTime)).entries.push(entry);
    isAny ||= pageref == null || listed !== undefined;
  }
  return isAny ? own : [{ page: undefined, entries: log.entries }];
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

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

/**
 * Parts a file's requests by page. A request without a page belongs to the first page. Pages with the same id are distinguished by time;
 * when the file lists no pages, the requests' page references make them up. All requests are of no page when no page has any.
 */
export function pagesOf(log: Har): PageEntries[] {
  const pages = log.pages?.length ? log.pages : namedPages(log.entries);
  if (pages.length <= 1) return [{ page: pages[0], entries: log.entries }];
  const own = pages.map((page): PageEntries => ({ page, entries: [] }));
  const byId = new Map<Page['id'], { from: number; of: PageEntries }[]>();
  for (const of of own) {
    const { id, startedDateTime } = of.page!;
    const same = byId.get(id);
    if (same === undefined) byId.set(id, [{ from: Number.NEGATIVE_INFINITY, of }]);
    else if (!Number.isNaN(dateOf(startedDateTime))) same.push({ from: dateOf(startedDateTime), of });
  }
  for (const same of byId.values()) same.sort((a, b) => a.from - b.from);
  let isAny = false;
  for (const entry of log.entries) {
    const same = byId.get(entry.pageref ?? pages[0]!.id);
    if (same === undefined) continue;
    const at = Date.parse(entry.startedDateTime);
    same[firstIndexWhere(same, ({ from }) => from > at) - 1]!.of.entries.push(entry);
    isAny = true;
  }
  return isAny ? own : [{ page: undefined, entries: log.entries }];
}

function namedPages(entries: readonly Entry[]): Page[] {
  const ids = new Set(entries.map(({ pageref }) => pageref));
  return [...ids].flatMap((id) => (id == null ? [] : [{ id }]));
}

import { shown } from '../../util/input-error.ts';
import { firstIndexWhere } from '../../util/ordered.ts';
import type { Entry, Har, Page } from './schema.ts';

/**
 * Takes the first page that has requests, with its requests; all requests when no page has any. A request without a page
 * belongs to the first page. Pages with the same id are distinguished by time; when the file lists no pages, the requests'
 * page references make them up.
 */
export function firstPage(log: Har, notes: string[]): { page: Page | undefined; entries: Entry[] } {
  const pages = log.pages?.length ? log.pages : pagesOf(log.entries);
  if (pages.length <= 1) return { page: pages[0], entries: log.entries };
  const starts = startsByPage(log.entries);
  const spans = spansOf(pages);
  for (const [index, page] of pages.entries()) {
    const { begins, ends } = spans[index]!;
    const own = starts.get(page.id) ?? [];
    const next = own[firstIndexWhere(own, (at) => at >= begins)];
    if (index > 0 && !(next !== undefined && next < ends)) continue;
    const entries = log.entries.filter(({ pageref, startedDateTime }) => {
      if (pageref == null ? index > 0 : pageref !== page.id) return false;
      const at = Date.parse(startedDateTime);
      return at >= begins && at < ends;
    });
    if (entries.length === 0) continue;
    const which = index === 0 ? 'the first' : `number ${index + 1}, the first that has requests`;
    notes.push(
      `${pages.length} pages in the file: took ${which} (${shown(page.id)}, ${entries.length} ${entries.length === 1 ? 'request' : 'requests'})`,
    );
    return { page, entries };
  }
  notes.push(`${pages.length} pages in the file, none of which has requests: took all requests`);
  return { page: undefined, entries: log.entries };
}

function pagesOf(entries: readonly Entry[]): Page[] {
  const ids = new Set(entries.map(({ pageref }) => pageref));
  return [...ids].flatMap((id) => (id == null ? [] : [{ id }]));
}

/** Starts of each page's requests, ascending. */
function startsByPage(entries: readonly Entry[]): Map<Page['id'], number[]> {
  const starts = new Map<Page['id'], number[]>();
  for (const { pageref, startedDateTime } of entries) {
    if (pageref == null) continue;
    const at = Date.parse(startedDateTime);
    const known = starts.get(pageref);
    if (known) known.push(at);
    else starts.set(pageref, [at]);
  }
  for (const times of starts.values()) times.sort((a, b) => a - b);
  return starts;
}

/** When each page's requests may begin: from its own start to that of the next page with the same id; otherwise at any time. */
function spansOf(pages: readonly Page[]): { begins: number; ends: number }[] {
  const spans = pages.map(() => ({ begins: Number.NEGATIVE_INFINITY, ends: Number.POSITIVE_INFINITY }));
  const last = new Map<Page['id'], number>();
  for (const [index, { id, startedDateTime }] of pages.entries()) {
    const before = last.get(id);
    last.set(id, index);
    if (before === undefined || startedDateTime == null) continue;
    const at = Date.parse(startedDateTime);
    spans[before]!.ends = at;
    spans[index]!.begins = at;
  }
  return spans;
}

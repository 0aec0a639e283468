import { hostOf, originOf } from '../../util/url.ts';
import type { Entry, Page } from './schema.ts';

/** Entries of a file without those that are no requests of any page. */
interface OwnEntries {
  entries: Entry[];
  /** How many were written twice: their copies are left out. */
  copies: number;
  /** How many were a proxy's tunnels, through which the page's own requests went, or the browser's checks of the network. */
  notOfPages: number;
}

/** Hosts that browsers and systems ask by themselves, before any page, to find out whether they are online. */
const CONNECTIVITY_CHECKS = new Set([
  'captive.apple.com',
  'connectivity-check.ubuntu.com',
  'connectivitycheck.android.com',
  'connectivitycheck.gstatic.com',
  'detectportal.firefox.com',
  'ipv4only.arpa',
  'network-test.debian.org',
  'nmcheck.gnome.org',
  'www.msftconnecttest.com',
  'www.msftncsi.com',
]);

/**
 * Leaves out of a file what is no request of a page, and what is in it twice: recorders that listen twice write all of it again, some
 * under a page of their own that the file does not list.
 *
 * @param pages the file's, of which several may have loaded the same at the same time
 */
export function ownEntries(all: readonly Entry[], pages: readonly Page[]): OwnEntries {
  const requests = all.filter(({ request }) => {
    const isTunnel = request.method?.toUpperCase() === 'CONNECT';
    return !isTunnel && !CONNECTIVITY_CHECKS.has(hostOf(request.url) ?? '');
  });
  const alike = new Map<string, Entry[]>();
  for (const entry of requests) {
    // A page may use one `data:` URL many times at once.
    if (originOf(entry.request.url) === null) continue;
    const key = `${entry.startedDateTime} ${entry.request.url}`;
    const known = alike.get(key);
    if (known) known.push(entry);
    else alike.set(key, [entry]);
  }
  // A request is of one of several pages by the page that it names; of a single page whatever it names.
  const listed = new Set(pages.length > 1 ? pages.map(({ id }) => String(id)) : []);
  const pageOf = ({ pageref }: Entry) => (listed.has(String(pageref)) ? String(pageref) : null);
  const copies = new Set([...alike.values()].flatMap((entries) => copiesAmong(entries, pageOf)));
  return {
    entries: requests.filter((entry) => !copies.has(entry)),
    copies: copies.size,
    notOfPages: all.length - requests.length,
  };
}

/**
 * Entries of one URL and start that are equal, down to the last digit, to another one of the same page. Of those that name no listed page
 * any other is the same.
 */
function copiesAmong(entries: readonly Entry[], pageOf: (entry: Entry) => string | null): Entry[] {
  if (entries.length === 1) return [];
  const pagesBy = new Map<string, Set<string | null>>();
  // Those of listed pages first: they are kept.
  const ordered = entries.toSorted((a, b) => Number(pageOf(a) === null) - Number(pageOf(b) === null));
  return ordered.filter((entry) => {
    const content = JSON.stringify({ ...entry, pageref: undefined });
    const page = pageOf(entry);
    const pages = pagesBy.get(content) ?? new Set();
    const isCopy = page === null ? pages.size > 0 : pages.has(page);
    pagesBy.set(content, pages.add(page));
    return isCopy;
  });
}

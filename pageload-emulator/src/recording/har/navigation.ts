import { siteKey } from '../../util/site.ts';
import { originOf } from '../../util/url.ts';
import type { RequestDraft } from '../requests/draft.ts';
import { askedForBy } from './asked-for.ts';
import { headerOf } from './headers.ts';
import { follows, redirectChain, type TimedEntry } from './navigations.ts';
import { type Entry, isRedirect, isWithoutContent, type Page, statusOf } from './schema.ts';
import { isNavigated, isSpeculative, typeOf } from './types.ts';
import { urlKey } from './urls.ts';
import { dateOf, lengthOf } from './values.ts';

/** The requests of a navigation. */
export interface Navigation {
  /** In order of start. */
  entries: Entry[];
  /** Whether its document is among them, is not, or nothing in the file shows that a page was loaded at all. */
  document: 'recorded' | 'missing' | 'none';
  /** URL of the page where its document is not in the file, as far as the file tells. */
  url: string | null;
}

/** Recorders of single requests, which load no pages. */
const API_CLIENTS = /^(polly\.?js|postman|newman|insomnia|hoppscotch|thunder client|bruno|httpie|paw)/i;

/**
 * Finds the navigation's requests. What began before the page did, such as beacons of the page that was left, does not belong to the
 * load. Where no document of the page is in the file, as where recording began late, its other requests are taken.
 *
 * @param all requests of one page, in order of start; not empty
 */
export function navigationOf(
  all: readonly TimedEntry[],
  page: Page | undefined,
  creator: string | null | undefined,
): Navigation {
  const ordered = withoutSaved(fromNetwork(all));
  const entries = ordered.map(({ entry }) => entry);
  if (API_CLIENTS.test(creator ?? '')) return { entries, document: 'none', url: null };
  const first = ordered.findIndex(({ type }) => type === 'document');
  const leads = !isRedirect(statusOf(entries[0]!)) || mayLeadToPage(redirectChain(ordered), page);
  if (leads && (first === 0 || mayNavigate(ordered[0]!))) return { entries, document: 'recorded', url: null };
  const before = entries.slice(0, first < 0 ? entries.length : first);
  const document = first < 0 ? null : ordered[first]!;
  if (document !== null && !isFrame(document.entry, before, page)) {
    return { entries: entries.slice(firstHop(ordered, first)), document: 'recorded', url: null };
  }
  const startMs = dateOf(page?.startedDateTime);
  const own = entries.filter(({ startedDateTime }) => !(Date.parse(startedDateTime) < startMs));
  const url = pageUrl(page) ?? refererOf(before);
  const loadMs = lengthOf(page?.pageTimings?.onLoad) || lengthOf(page?.pageTimings?.onContentLoad);
  // Of a list that was cleared or filtered, what the page asked for later may be left alone.
  const isInLoad = own.some(({ startedDateTime }) => !(Date.parse(startedDateTime) >= startMs + loadMs));
  const isLoad = loadMs > 0 && (isInLoad || own.length === 0);
  return { entries: own.length > 0 ? own : entries, document: isLoad ? 'missing' : 'none', url };
}

/**
 * Requests from the first that a network carries on: what an extension or an empty page asked for before is no part of the load, nor is
 * what got no answer and nothing says to be a document.
 */
function fromNetwork(ordered: readonly TimedEntry[]): readonly TimedEntry[] {
  const first = ordered.findIndex(
    ({ entry, type }) => originOf(entry.request.url) !== null && (type === 'document' || statusOf(entry) > 0),
  );
  return first <= 0 ? ordered : ordered.slice(first);
}

/** Requests without redirects before them that led to what no browser shows, such as what it updates itself with. */
function withoutSaved(ordered: readonly TimedEntry[]): readonly TimedEntry[] {
  if (ordered.length === 0 || !isRedirect(statusOf(ordered[0]!.entry))) return ordered;
  const chain = new Set(redirectChain(ordered));
  const others = ordered.filter((each) => !chain.has(each));
  return others.length === 0 || mayBeShown([...chain].at(-1)!.entry) ? ordered : others;
}

/** The position of the first of the redirects that led to a document, else its own. */
function firstHop(ordered: readonly TimedEntry[], document: number): number {
  let hop = document;
  for (let at = document - 1; at >= 0; at--) if (follows(ordered[at]!, ordered[hop]!)) hop = at;
  return hop;
}

/** Whether the first request, which is known to be no document, may be the navigation's: a redirect of no known type, or a request of which little is known. */
function mayNavigate({ entry, type }: TimedEntry): boolean {
  const { named } = typeOf(entry);
  if (isRedirect(statusOf(entry))) return !named;
  const isGet = (entry.request.method || 'GET').toUpperCase() === 'GET';
  const mayBePage = type === 'other' && !entry._resourceType && !named && mayBeShown(entry);
  return mayBePage && isGet && isNavigated(entry) !== false;
}

/** Whether a browser may show an answer as a page: none without content, and it saves most data as files. */
function mayBeShown(entry: Entry): boolean {
  return (
    !isWithoutContent(statusOf(entry)) &&
    !/^application\/(?!pdf|xhtml)/i.test(entry.response?.content?.mimeType ?? '')
  );
}

/** Whether redirects may be the navigation's: not where they lead to something else than a document, and the page is of other sites. */
function mayLeadToPage(chain: readonly TimedEntry[], page: Page | undefined): boolean {
  const { entry, type } = chain.at(-1)!;
  const named = pageUrl(page);
  if (named === null || type === 'document' || isRedirect(statusOf(entry))) return true;
  // Proxies write no types of answers that name none, and call pages as a test does.
  if (type === 'other' && !entry.response?.content?.mimeType && mayBeShown(entry)) return true;
  return chain.some((each) => siteKey(each.entry.request.url) === siteKey(named));
}

/** Whether a file's first document is a frame of a page whose own document is not in the file. */
function isFrame(document: Entry, before: readonly Entry[], page: Page | undefined): boolean {
  if (/^document$/i.test(headerOf(document.request, 'sec-fetch-dest') ?? '')) return false;
  const named = pageUrl(page);
  if (named !== null && urlKey(named) === urlKey(document.request.url)) return false;
  if (named !== null && siteKey(named) !== siteKey(document.request.url)) return true;
  const asked = askedForBy(document);
  if (asked.byBrowser) return false;
  if (asked.kind === 'parser') return true;
  const parent = headerOf(document.request, 'referer');
  // Requests of frames name the page; a navigation may, too.
  if (parent === null && (document.request.headers?.length ?? 0) > 0) return false;
  const asking = refererOf(before);
  if (parent !== null && asking !== null && urlKey(parent) === urlKey(asking)) return true;
  // HAR 1.2: what began with the page and names it belongs to it, so that something else led to these requests.
  const startMs = dateOf(page?.startedDateTime);
  return before.some(
    ({ pageref, startedDateTime }) =>
      pageref != null && pageref === page?.id && Date.parse(startedDateTime) >= startMs,
  );
}

/** The URL that a recorder gives a page, in one field or another. */
export function pageUrl(page: Page | undefined): string | null {
  const texts = [page?._URL, page?.title, page?.id];
  const url = texts.find(
    (text): text is string => typeof text === 'string' && originOf(text.trim()) !== null,
  );
  return url?.trim() ?? null;
}

/** The page that most requests name as theirs. */
function refererOf(entries: readonly Entry[]): string | null {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const [asking] = askedForBy(entry).urls;
    const url = headerOf(entry.request, 'referer') ?? asking;
    if (url !== undefined && originOf(url) !== null) counts.set(url, (counts.get(url) ?? 0) + 1);
  }
  const most = [...counts].reduce<[string, number] | null>(
    (a, b) => (a !== null && a[1] >= b[1] ? a : b),
    null,
  );
  return most?.[0] ?? null;
}

/**
 * Distinguishes the page's document from frames and from pages that a script fetched. Of documents whose type nothing states, those that
 * a browser shows become iframes, others what a script fetched; where nothing tells, they are frames of pages whose load event is known,
 * as a load event that came shows whether it waited for them.
 *
 * @param ordered requests in order of start, the first being the navigation's unless its document is not in the file
 * @returns the document, or what stands for it
 */
export function nameDocuments(
  ordered: readonly RequestDraft[],
  {
    entryOf,
    typed,
    hasDocument,
    hasLoadEvent,
  }: {
    entryOf: ReadonlyMap<RequestDraft, Entry>;
    typed: ReadonlySet<RequestDraft>;
    hasDocument: boolean;
    hasLoadEvent: boolean;
  },
): RequestDraft {
  const pages = new Set<string>();
  for (const entry of entryOf.values()) {
    const referer = headerOf(entry.request, 'referer');
    if (referer !== null) pages.add(urlKey(referer));
  }
  const isShown = (draft: RequestDraft): boolean =>
    typed.has(draft) || (isNavigated(entryOf.get(draft)!) ?? (hasLoadEvent || pages.has(urlKey(draft.url))));
  const withEntries = ordered.map((draft) => ({ draft, entry: entryOf.get(draft)! }));
  const chain = hasDocument ? redirectChain(withEntries).map(({ draft }) => draft) : [];
  const documents = new Set(chain);
  for (const draft of ordered) {
    if (documents.has(draft)) draft.type = 'document';
    else if (draft.type === 'document' || draft.type === 'iframe') {
      if (isSpeculative(entryOf.get(draft)!)) draft.type = 'other';
      else if (draft.type === 'document') draft.type = isShown(draft) ? 'iframe' : 'fetch';
    }
  }
  const document = chain.at(-1);
  // A file that ends with a redirect: its target is not there.
  return document === undefined || isRedirect(document.status) ? ordered[0]! : document;
}

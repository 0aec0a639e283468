import { shown } from '../../util/input-error.ts';
import { originOf } from '../../util/url.ts';
import { pageUrl } from './navigation.ts';
import { partNavigations, type TimedEntry, timed } from './navigations.ts';
import { noSuchPage, type PageChoice, type ReadOptions } from './page-choice.ts';
import { type PageEntries, pagesOf } from './pages.ts';
import { asksForCredentials, type Entry, type Har, type Page, statusOf } from './schema.ts';
import { findSentOn, joinSentOn } from './sent-on.ts';
import { urlKey } from './urls.ts';

/** One load of a page in a file. */
export interface PageLoad {
  /** Undefined when the file lists no pages. */
  page: Page | undefined;
  /** Its requests, in order of start; none for some pages. */
  ordered: TimedEntry[];
  /** Requests of the page's other navigations too, in order of the file. */
  fileOrder: Entry[];
  /** Position among the page's navigations. */
  navigation: number;
  navigations: number;
  /** URL of the page that its visitor was sent on to by a script; null for none. */
  sentOn: string | null;
  /** When the page's next navigation began, Unix time in milliseconds; infinite without one. */
  endsAt: number;
}

/**
 * Takes one page load of a file: the chosen one, else the first of which the network answered a request, else the first that has requests.
 *
 * @param notes to which is added which of several was taken
 * @throws InputError when the file has no such page load
 */
export function takeLoad(
  log: Har,
  { page: choice, pageOption, nearMs }: ReadOptions,
  notes: string[],
): PageLoad {
  const pages = joinSentOn(pagesOf(log));
  const loads = pages.flatMap(loadsOf);
  const answered = loads.findIndex(hasAnswer);
  const first = answered >= 0 ? answered : Math.max(0, loads.findIndex(hasRequests));
  const index = choice === undefined ? first : indexOf(loads, choice, nearMs);
  const load = loads[index]!;
  const note = noteOf(log, pages, loads, index, choice === undefined);
  const other = loads.findIndex((each, at) => at !== index && hasAnswer(each));
  const isHinted = choice === undefined && pageOption !== undefined && other >= 0;
  if (note !== null) notes.push(isHinted ? `${note}; ${pageOption} ${other + 1}|URL takes another` : note);
  return load;
}

const hasRequests = ({ ordered }: PageLoad): boolean => ordered.length > 0;

const hasAnswer = ({ ordered }: PageLoad): boolean => ordered.some(isAnswered);

/** What asks for credentials is no page: while its visitor types them, it waits for nothing else. */
function isAnswered({ entry }: TimedEntry): boolean {
  const status = statusOf(entry);
  return originOf(entry.request.url) !== null && status > 0 && !asksForCredentials(status);
}

/** Says which of several page loads was taken; null for the only one. */
function noteOf(
  log: Har,
  pages: readonly PageEntries[],
  loads: readonly PageLoad[],
  index: number,
  isLikely: boolean,
): string | null {
  const { page, ordered, navigation, navigations } = loads[index]!;
  const requests = `${ordered.length} ${ordered.length === 1 ? 'request' : 'requests'}`;
  const why = `the first that ${loads.slice(0, index).some(hasRequests) ? 'was answered' : 'has requests'}`;
  if (navigations > 1) {
    const place = page === undefined ? 'the file' : `page ${shown(page.id)}`;
    const rank = navigation === 0 ? 'the first' : `number ${navigation + 1}${isLikely ? `, ${why}` : ''}`;
    const number = pages.length > 1 ? `, number ${index + 1} of ${loads.length} page loads in the file` : '';
    return `${navigations} navigations in ${place}: took ${rank} (${nameOf(loads[index]!)}, ${requests})${number}`;
  }
  if (pages.length > 1) {
    const which = index === 0 ? 'the first' : `number ${index + 1}${isLikely ? `, ${why}` : ''}`;
    return `${pages.length} pages in the file: took ${which} (${nameOf(loads[index]!)}, ${requests})`;
  }
  const listed = log.pages?.length ?? 0;
  return page === undefined && listed > 1
    ? `${listed} pages in the file, none of which has the requests of a page load: took all requests`
    : null;
}

function loadsOf({ page, entries, sentOn }: PageEntries): PageLoad[] {
  // Playwright: requests that the test itself made, not the page.
  const parts = partNavigations(timed(entries.filter(({ _apiRequest }) => _apiRequest !== true)));
  return parts.map((ordered, navigation) => ({
    page,
    ordered,
    fileOrder: entries,
    navigation,
    navigations: parts.length,
    sentOn: sentOn ?? findSentOn(ordered.map(({ entry }) => entry)),
    endsAt: parts[navigation + 1]?.[0]?.startMs ?? Number.POSITIVE_INFINITY,
  }));
}

function indexOf(loads: readonly PageLoad[], choice: PageChoice, nearMs: number | undefined): number {
  const index = typeof choice === 'number' ? choice - 1 : indexOfUrl(loads, choice, nearMs);
  if (loads[index] !== undefined && loads[index].ordered.length > 0) return index;
  throw noSuchPage(loads.map(nameOf), choice);
}

/** −1 for none. */
function indexOfUrl(loads: readonly PageLoad[], choice: string, nearMs: number | undefined): number {
  const isNamed = (load: PageLoad) => urlsOf(load).some((url) => urlKey(url) === urlKey(choice));
  if (nearMs === undefined) return loads.findIndex(isNamed);
  const distanceMs = ({ ordered }: PageLoad) =>
    Math.abs((ordered[0]?.startMs ?? Number.POSITIVE_INFINITY) - nearMs);
  const [nearest] = loads.filter(isNamed).toSorted((a, b) => distanceMs(a) - distanceMs(b));
  return nearest === undefined ? -1 : loads.indexOf(nearest);
}

/** A load's URL for people: its document's, else its page's name. */
function nameOf(load: PageLoad): string {
  return urlsOf(load)[0] ?? shown(load.page?.id);
}

/** URLs that a load goes by: those of its document and of the redirects to it, and its page's. */
function urlsOf({ page, ordered, navigation }: PageLoad): string[] {
  const documents = ordered.filter(({ type }) => type === 'document').map(({ entry }) => entry.request.url);
  const named = navigation === 0 ? pageUrl(page) : null;
  return [...documents, ...(named === null ? [] : [named])];
}

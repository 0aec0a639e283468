/** Which load the report of a page is of. */
import { originOf } from '@hopwise/pageload-emulator';
import { LOAD_TIMEOUT_MS } from '../recorder/limits.ts';
import { hasNoPage, type ObservedRequest } from '../recorder/observed-request.ts';
import { withoutFragment } from '../recorder/url-text.ts';
import { maskQuery } from '../storage/strip-urls.ts';
import { noteDroppedReport } from './dropped-reports.ts';
import type { TabLoad, TabLoads } from './tab-loads.ts';

/** The browser's word on the page that sends a message. */
export interface ReportingPage {
  /** `NO_TAB` where the browser no longer names it. */
  tabId: number;
  url: string;
  /** Names its document among those of all tabs; '' in Firefox. */
  documentId: string;
  /** When its document began, as the page says: milliseconds since 1970. */
  timeOrigin: number;
  /** When the page was left, as it says, milliseconds after its beginning; null while it is there. */
  leftMs: number | null;
}

/** In place of the id of a tab that the browser does not name. */
export const NO_TAB = -1;

/**
 * The page whose top frame sends a message; null for other senders.
 *
 * @param leftMs when it was left, where the message says so
 */
export function pageOf(
  sender: chrome.runtime.MessageSender,
  timeOrigin: number,
  leftMs: number | null = null,
): ReportingPage | null {
  const { tab, frameId, url, documentId = '' } = sender;
  if (url === undefined) return null;
  const isShown = tab?.id !== undefined && frameId === 0;
  if (!isShown && (leftMs === null || !isReplaced(sender, leftMs))) return null;
  return { tabId: tab?.id ?? NO_TAB, url: withoutFragment(url), documentId, timeOrigin, leftMs };
}

/**
 * Whether the sender is a page that its tab no longer shows. Chromium makes the next page frame 0 of the tab before the old page's `pagehide`
 * event, if it has another process or comes from the back/forward cache; the lifecycle of the old document shows this. Firefox names no tab
 * where the next page comes from that cache. Without its tab, the page's report after 30 s is not found, so that a page which may have sent one is
 * refused. A frame within the page looks the same: a captured one can report a load, but only under its own document's URL.
 */
function isReplaced({ tab, documentLifecycle }: chrome.runtime.MessageSender, leftMs: number): boolean {
  if (tab?.id === undefined) return leftMs < LOAD_TIMEOUT_MS;
  return documentLifecycle === 'cached' || documentLifecycle === 'pending_deletion';
}

/**
 * How long before the browser reports a navigation's request its page may begin, milliseconds: the browser asks the page before whether it may be
 * left, which takes time on a busy machine. A page reports a second after its load at the earliest.
 */
const NAVIGATION_LEAD_MS = 500;

/** More than the clocks of a page and of the browser's events differ by, milliseconds. */
const MAX_DEVIATION_MS = 500;

const nameLoad = ({ documentId, timeOrigin }: ReportingPage): string => documentId || `${timeOrigin}`;

/**
 * Names the load whose page reports that it has settled, which its report begins unless the browser's events did. To be called when the
 * report arrives, as the next page may load in the tab before the recording is made.
 *
 * @param loadedUrl what the page's navigation led to, as the page says
 * @returns null when the next navigation has started, or was a download, so that the report came from the page before it; or when the load
 *   has been stored, and the worker was stopped before the page knew
 */
export async function findSettledNavigation(
  loads: TabLoads,
  page: ReportingPage,
  loadedUrl = page.url,
): Promise<string | null> {
  const { tabId, url, documentId, timeOrigin, leftMs } = page;
  const seen = await loads.getLoad(tabId);
  if (isRecorded(seen, page) || (leftMs !== null && mayBeNext(seen, page))) return null;
  const document = seen?.requests.findLast((request) => request.type === 'document');
  if (
    !isSeenLoading(seen) ||
    isOfUnseenNavigation(document, timeOrigin) ||
    isOfPageBefore(document, page, loadedUrl)
  ) {
    const name = nameLoad(page);
    loads.begin(tabId, name, url, { timeOrigin, documentId });
    return (await loads.getLoad(tabId))?.navigationId === name ? name : null;
  }
  if (!document || (document.headersAt === null && !document.fromCache) || hasNoPage(document)) return null;
  if (originOf(url) !== originOf(document.url)) {
    noteDroppedReport(url, document.url);
    return null;
  }
  loads.updateLoad(tabId, seen.navigationId, { timeOrigin, documentId });
  return seen.navigationId;
}

/**
 * Whether the load of a page has been recorded: each document has one. A page that was captured can make up when it began, but not the browser's name of
 * its document.
 */
function isRecorded(load: TabLoad | undefined, { documentId, timeOrigin }: ReportingPage): boolean {
  if (load?.phase !== 'recorded') return false;
  return documentId === '' ? load.timeOrigin === timeOrigin : load.documentId === documentId;
}

/** Whether a tab's load is, or may be, that of the page which follows the one that began at `timeOrigin`. */
const mayBeNext = (load: TabLoad | undefined, { tabId, timeOrigin }: ReportingPage): boolean =>
  tabId !== NO_TAB &&
  ((load?.timeOrigin ?? 0) > timeOrigin ||
    (isSeenLoading(load) && load.timeOrigin !== timeOrigin && !beganWith(load, timeOrigin)));

/** Whether a page began with the navigation that the browser reported. Redirects of it are further requests. */
function beganWith({ requests }: TabLoad, timeOrigin: number): boolean {
  const first = requests.find(({ type }) => type === 'document');
  return first !== undefined && Math.abs(first.startedAt - timeOrigin) < MAX_DEVIATION_MS;
}

/**
 * Whether a page is recorded by its report alone, although a navigation was seen. The extension stopped listening in between: the navigation's answer was not
 * reported, or the page began after that answer, with a later navigation.
 */
function isOfUnseenNavigation(document: ObservedRequest | undefined, timeOrigin: number): boolean {
  if (document === undefined) return false;
  const { startedAt, headersAt, fromCache } = document;
  return headersAt === null && !fromCache
    ? timeOrigin > startedAt - NAVIGATION_LEAD_MS
    : timeOrigin > (headersAt ?? startedAt) + MAX_DEVIATION_MS;
}

/**
 * Whether a page is still there although a navigation after it was answered, as by a download: Firefox reports that as any answer. The page is then recorded
 * by its report alone.
 */
function isOfPageBefore(
  document: ObservedRequest | undefined,
  { timeOrigin, leftMs }: ReportingPage,
  loadedUrl: string,
): boolean {
  if (document === undefined || document.headersAt === null || leftMs !== null) return false;
  const isOther = maskQuery(withoutFragment(loadedUrl)) !== maskQuery(document.url);
  return isOther && timeOrigin < document.startedAt;
}

/** Whether the events of a navigation began a load that has not been recorded. */
const isSeenLoading = (load: TabLoad | undefined): load is TabLoad =>
  load?.phase === 'loading' && load.isNavigationSeen;

/** A page that is observed from its start on begins to load: what it requests belongs to this load, unless the navigation began it. */
export async function beginDetailedLoad(loads: TabLoads, page: ReportingPage): Promise<void> {
  const { tabId, url, documentId, timeOrigin } = page;
  const seen = await loads.getLoad(tabId);
  if (isSeenLoading(seen) || isRecorded(seen, page)) return;
  loads.begin(tabId, nameLoad(page), url, { isDetailed: true, timeOrigin, documentId });
}

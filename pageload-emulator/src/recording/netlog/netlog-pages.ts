import { siteKey } from '../../util/site.ts';
import { originOf } from '../../util/url.ts';
import type { NetLogConnections } from './netlog-connections.ts';
import type { NetLogHop } from './netlog-hops.ts';

/** A page that a tab loaded, with the requests for it. */
interface NetLogPage {
  url: string;
  startMs: number;
  /** In order of issue. */
  hops: NetLogHop[];
}

/**
 * Finds the pages of a log. A request belongs to the newest page that a tab of the same site had begun to load; what the browser asked for
 * by itself belongs to none.
 *
 * @param hops in order of issue
 */
export function pagesIn(hops: readonly NetLogHop[], connections: NetLogConnections): NetLogPage[] {
  const pages: NetLogPage[] = [];
  const byRequest = new Map<number, NetLogPage>();
  const newest = new Map<string, NetLogPage>();
  for (const hop of hops) {
    const { requestId, url, tabSite } = hop;
    let page = byRequest.get(requestId);
    if (page === undefined && hop.isMainFrame && originOf(url) !== null) {
      page = { url, startMs: beginningOf(hop, connections), hops: [] };
      hop.issuedMs = page.startMs;
      pages.push(page);
      byRequest.set(requestId, page);
      // Redirects lead from site to site.
      for (let next: NetLogHop | null = hop; next !== null; next = next.next)
        newest.set(siteKey(next.url), page);
    }
    page ??= tabSite === null ? pages.at(-1) : newest.get(siteKey(tabSite));
    page?.hops.push(hop);
  }
  return pages;
}

/**
 * When a tab began to load a page: the browser opens a connection for it while it still prepares the request. One that was opened long
 * before, as for an address that was being typed, is ready by then.
 */
function beginningOf({ issuedMs, connectionId }: NetLogHop, connections: NetLogConnections): number {
  const { resolvedFromMs = null, openedFromMs = null, readyMs = null } = connections.find(connectionId) ?? {};
  const beganMs = resolvedFromMs ?? openedFromMs;
  return beganMs !== null && readyMs !== null && readyMs > issuedMs ? Math.min(issuedMs, beganMs) : issuedMs;
}

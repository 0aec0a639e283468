import { getDomain } from 'tldts';
import { hostOf, originOf } from './url.ts';

const known = new Map<string, string>();
/** Sites that are remembered; a page has far fewer origins. */
const MAX_KNOWN = 1000;

/** The site of a URL: its registrable domain by the Public Suffix List, or its host where there is none, as of addresses. */
export function siteKey(url: string): string {
  const origin = originOf(url) ?? '';
  const before = known.get(origin);
  if (before !== undefined) return before;
  const host = hostOf(url) ?? '';
  const site = getDomain(host, { allowPrivateDomains: true }) ?? host;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(origin, site);
  return site;
}

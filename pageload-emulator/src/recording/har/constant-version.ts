import { groupBy, MAX_CONNECTIONS_PER_HOST } from '@hopwise/contract';
import { originOf } from '../../util/url.ts';
import type { RequestDraft } from '../requests/draft.ts';

/** A browser opens six connections to a host for requests with cookies, and six for those without. */
export const MAX_BROWSER_CONNECTIONS = 2 * MAX_CONNECTIONS_PER_HOST;

/**
 * Forgets the protocols of a recorder that writes HTTP/1.1 for every request without knowing it, as many scripts of the DevTools protocol do:
 * more responses were arriving from one host at once than browsers have connections to it, each of which carries one at a time (RFC 9112
 * section 9.3.2). No browser speaks HTTP/2 without TLS.
 *
 * @param drafts their protocols are changed
 * @returns whether they were forgotten
 */
export function forgetConstantVersion(drafts: readonly RequestDraft[]): boolean {
  const named = drafts.filter(({ protocol }) => protocol !== null);
  if (named.some(({ protocol }) => protocol !== 'h1')) return false;
  const encrypted = named.filter(({ url }) => originOf(url)?.startsWith('https:'));
  const byOrigin = groupBy(encrypted, ({ url }) => originOf(url));
  if (![...byOrigin.values()].some((own) => maxArriving(own) > MAX_BROWSER_CONNECTIONS)) return false;
  for (const draft of encrypted) draft.protocol = null;
  return true;
}

/** The largest number of responses that were arriving at once. */
function maxArriving(drafts: readonly RequestDraft[]): number {
  const timed = drafts.filter(({ phases }) => phases.responseStartMs !== null);
  const begins = timed.map(({ phases }) => ({ at: phases.responseStartMs!, by: 1 }));
  const ends = timed.map(({ endMs }) => ({ at: endMs, by: -1 }));
  // Of one time, ends come first.
  const changes = [...begins, ...ends].sort((a, b) => a.at - b.at || a.by - b.by);
  let arriving = 0;
  let max = 0;
  for (const { by } of changes) {
    arriving += by;
    max = Math.max(max, arriving);
  }
  return max;
}

import { groupBy } from '@hopwise/contract';
import type { RequestDraft } from '../requests/draft.ts';
import { pathKey } from './urls.ts';

/** Recorders round times: a preflight may seem to end a little after its request was sent. */
const SLACK_MS = 5;
/** A browser sends a request this soon after its preflight at the latest. */
const SPAN_MS = 100;

/**
 * Finds the preflight of each request that had one (Fetch standard, "CORS-preflight fetch"), and has the request begin when its preflight ended:
 * Chromium counts the wait for it as the request's own, others do not.
 *
 * @param drafts their starts are changed
 * @returns preflights by their requests
 */
export function pairPreflights(drafts: readonly RequestDraft[]): ReadonlyMap<RequestDraft, RequestDraft> {
  const pairs = new Map<RequestDraft, RequestDraft>();
  const preflights = drafts.filter(({ method }) => method === 'OPTIONS');
  if (preflights.length === 0) return pairs;
  const others = groupBy(
    drafts.filter(({ method, fromCache }) => method !== 'OPTIONS' && !fromCache),
    ({ url }) => pathKey(url),
  );
  for (const preflight of preflights.toSorted((a, b) => a.endMs - b.endMs)) {
    const waited = (others.get(pathKey(preflight.url)) ?? []).filter(
      (draft) => !pairs.has(draft) && mayFollow(draft, preflight),
    );
    const [first] = waited.toSorted((a, b) => firstStepMs(a) - firstStepMs(b));
    if (first === undefined) continue;
    pairs.set(first, preflight);
    first.startMs = Math.max(first.startMs, Math.min(preflight.endMs, firstStepMs(first)));
  }
  return pairs;
}

/** Whether a request's first step came right after a preflight, and the request was not made long before it. */
function mayFollow(draft: RequestDraft, preflight: RequestDraft): boolean {
  const afterMs = firstStepMs(draft) - preflight.endMs;
  const isBefore = preflight.startMs <= firstStepMs(draft);
  return isBefore && afterMs >= -SLACK_MS && afterMs <= SPAN_MS;
}

/** When a request first used the network; its start where only that is known. */
function firstStepMs({ phases, startMs }: RequestDraft): number {
  return phases.dnsStartMs ?? phases.connectStartMs ?? phases.requestStartMs ?? startMs;
}

import type { PlannedTransfer, Recording, ResourceType, TransferPlan } from '@hopwise/contract';
import { documentOf } from '../recording/requests/draft.ts';
import type { PageGraph } from './page-graph.ts';

const MAX_TRANSFERS = 5_000;
const MAX_AFTER = 64;
const MAX_URL_LENGTH = 8_192;

/** Chromium's `Accept` headers. */
const ACCEPT: Partial<Record<ResourceType, string>> = {
  document:
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  iframe: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  style: 'text/css,*/*;q=0.1',
  image: 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8',
};

/**
 * Plans a verification: the page's https GETs in its own order, without beacons and media (the load event waits for neither,
 * and a film would be transferred to its end). Computation between two transfers becomes delay; a dependency on part of a
 * response becomes one on the whole.
 *
 * @returns null when the page has no such request
 */
export function transferPlan(graph: PageGraph, recording: Recording, userAgent: string): TransferPlan | null {
  const transfers: PlannedTransfer[] = [];
  /** What replaces each activity in the plan: transfers to wait for, then a delay. */
  const replacements: { after: number[]; delayMs: number }[] = [];
  for (const activity of graph.activities) {
    const after = new Set<number>();
    let delayMs = activity.kind === 'fetch' ? activity.delayMs : activity.durationMs;
    let longestMs = 0;
    for (const { activity: parent } of activity.after) {
      const before = replacements[parent]!;
      for (const index of before.after) after.add(index);
      longestMs = Math.max(longestMs, before.delayMs);
    }
    delayMs += longestMs;
    // The latest ones, which themselves nearly always wait for the earlier ones.
    const waits = [...after].sort((a, b) => a - b).slice(-MAX_AFTER);
    const planned =
      activity.kind === 'fetch' &&
      activity.type !== 'beacon' &&
      activity.type !== 'media' &&
      transfers.length < MAX_TRANSFERS &&
      activity.url.length <= MAX_URL_LENGTH &&
      activity.url.startsWith('https://') &&
      recording.requests[activity.requestId]?.method === 'GET';
    if (!planned) {
      replacements.push({ after: waits, delayMs });
      continue;
    }
    replacements.push({ after: [transfers.length], delayMs: 0 });
    transfers.push({
      url: activity.url,
      after: waits,
      delayMs,
      urgency: activity.urgency,
      incremental: activity.incremental,
      accept: ACCEPT[activity.type] ?? '*/*',
      bytes: Math.round(activity.responseBytes),
    });
  }
  const first = transfers[0];
  if (first === undefined) return null;
  const page = [graph.url, documentOf(recording).url].find((url) => url.startsWith('https://')) ?? first.url;
  return { pageUrl: page.slice(0, MAX_URL_LENGTH), userAgent: userAgent.slice(0, 512), transfers };
}

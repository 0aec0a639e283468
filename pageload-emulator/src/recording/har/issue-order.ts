import type { RequestDraft } from '../requests/draft.ts';
import { ROUNDING_MS } from './values.ts';

/**
 * Sorts requests by start. Of requests that follow each other in the file, a later one that seems to start less than a rounding
 * before the earlier one gets its start: recorders list requests as they are issued, and which came first decides what waits for a
 * connection. Larger steps back stay: such a file is in another order.
 *
 * @param drafts in order of the file; their starts are changed
 */
export function inOrderOfIssue(drafts: readonly RequestDraft[]): RequestDraft[] {
  let beforeMs = Number.NEGATIVE_INFINITY;
  for (const draft of drafts) {
    const { phases, endMs, startMs } = draft;
    const firstMs = phases.dnsStartMs ?? phases.connectStartMs ?? phases.requestStartMs ?? endMs;
    if (beforeMs - startMs < ROUNDING_MS) draft.startMs = Math.max(startMs, Math.min(beforeMs, firstMs));
    beforeMs = draft.startMs;
  }
  return drafts.toSorted((a, b) => a.startMs - b.startMs);
}

import type { RequestDraft } from '../requests/draft.ts';
import { isRedirect } from './redirect.ts';
import { type Entry, statusOf } from './schema.ts';
import { typeOf } from './types.ts';

/**
 * Returns the entries from the navigation on, in order of start. Requests before the first document that are known to be no
 * documents, such as beacons of the page that was left, do not belong to the load.
 */
export function fromNavigation(entries: readonly Entry[]): Entry[] {
  const ordered = entries
    .map((entry) => ({ entry, startMs: Date.parse(entry.startedDateTime), type: typeOf(entry).type }))
    .sort((a, b) => a.startMs - b.startMs);
  const first = ordered.findIndex(({ type }) => type === 'document');
  const before = ordered.slice(0, Math.max(0, first));
  const isOthers = before.every(({ type, entry }) => type !== 'other' && !isRedirect(statusOf(entry)));
  return ordered.slice(isOthers ? before.length : 0).map(({ entry }) => entry);
}

/**
 * Distinguishes the page's document from frames and from pages that a script fetched: other documents become iframes.
 *
 * @param ordered requests in order of start, the first being the navigation's
 */
export function nameDocuments(ordered: readonly RequestDraft[]): RequestDraft {
  let document: RequestDraft | null = null;
  for (const draft of ordered) {
    if (document === null) {
      // The first request and what its redirects lead to.
      draft.type = 'document';
      if (!isRedirect(draft.status)) document = draft;
    } else if (draft.type === 'document') {
      draft.type = 'iframe';
    }
  }
  return document ?? ordered[0]!;
}

import type { RecordedRequest, Recording } from '@hopwise/contract';
import { DAY_MS } from '@hopwise/contract';
import { InputError } from '../../util/input-error.ts';
import { originOf } from '../../util/url.ts';

/** A request without its id, whose initiator is a reference to another draft. */
export interface RequestDraft extends Omit<RecordedRequest, 'id' | 'initiator'> {
  initiator: Omit<RecordedRequest['initiator'], 'requestId'> & { request: RequestDraft | null };
}

/** Files with more requests are refused, to bound memory. */
const MAX_REQUESTS = 10_000;
/** Longer loads come from clocks that were set during the load; their times mean nothing. */
export const MAX_LOAD_MS = DAY_MS;

/**
 * Sorts requests by start, numbers them and leaves out those that no network carries (`data:`, `blob:`, extensions' own).
 * A request whose initiator is left out gets that one's initiator instead.
 *
 * @param place where the requests are in the file, for errors
 * @throws InputError when no request or too many remain, or times are more than a day from the navigation
 */
export function finishRequests(drafts: readonly RequestDraft[], place: string): RecordedRequest[] {
  const kept = drafts.filter((draft) => originOf(draft.url) !== null);
  if (kept.length === 0)
    throw new InputError(`${place}: expected at least one http or https request, got none`);
  refuseTooMany(kept.length, place);
  kept.sort((a, b) => a.startMs - b.startMs);
  const last = kept.reduce((latest, draft) => Math.max(latest, draft.endMs), 0);
  if (last > MAX_LOAD_MS || kept[0]!.startMs < -MAX_LOAD_MS) {
    throw new InputError(
      `${place}: expected times within a day of the navigation, got ${Math.round(last)} ms`,
    );
  }
  const ids = new Map(kept.map((draft, id) => [draft, id]));
  return kept.map((draft, id): RecordedRequest => {
    const { request, ...initiator } = draft.initiator;
    let asker = request;
    for (let hops = 0; asker !== null && !ids.has(asker) && hops < 100; hops++)
      asker = asker.initiator.request;
    const asked = asker === null ? undefined : ids.get(asker);
    // An initiator comes before what it initiates; anything else would lead in circles.
    const requestId = asked === undefined || asked >= id ? null : asked;
    const source = request !== null && requestId === null ? 'inferred' : initiator.source;
    return { ...draft, url: withoutFragment(draft.url), id, initiator: { ...initiator, source, requestId } };
  });
}

/** @throws InputError for more requests than a page load has */
export function refuseTooMany(requests: number, place: string): void {
  if (requests <= MAX_REQUESTS) return;
  throw new InputError(`${place}: expected at most ${MAX_REQUESTS} requests, got ${requests}`);
}

/** Finds the request that answered the navigation: the first document that is no redirect, else the first request. */
export function documentOf(recording: Pick<Recording, 'requests'>): RecordedRequest {
  const { requests } = recording;
  return (
    requests.find(({ type, status }) => type === 'document' && !(status >= 300 && status < 400)) ??
    requests[0]!
  );
}

function withoutFragment(url: string): string {
  const hash = url.indexOf('#');
  return hash < 0 ? url : url.slice(0, hash);
}

import type { RecordedRequest, Recording } from '@hopwise/contract';
import { maskQuery } from '../../storage/strip-urls.ts';

/** The requests of two loads of one page. */
export interface MatchedRequests {
  /** The request of the earlier load, by the number of the same request in the later one. */
  earlierOf: ReadonlyMap<number, RecordedRequest>;
  earlierOnly: RecordedRequest[];
  laterOnly: RecordedRequest[];
}

/**
 * Matches requests by method and URL without its query string, which often differs from load to load; of several alike the first in
 * one load with the first in the other.
 */
export function matchRequests(earlier: Recording, later: Recording): MatchedRequests {
  const waiting = new Map<string, RecordedRequest[]>();
  for (const request of earlier.requests) {
    const alike = waiting.get(keyOf(request));
    if (alike) alike.push(request);
    else waiting.set(keyOf(request), [request]);
  }
  for (const alike of waiting.values()) alike.reverse();
  const earlierOf = new Map<number, RecordedRequest>();
  const laterOnly: RecordedRequest[] = [];
  for (const request of later.requests) {
    const same = waiting.get(keyOf(request))?.pop();
    if (same) earlierOf.set(request.id, same);
    else laterOnly.push(request);
  }
  const matched = new Set(earlierOf.values());
  return { earlierOf, earlierOnly: earlier.requests.filter((request) => !matched.has(request)), laterOnly };
}

const keyOf = ({ method, url }: RecordedRequest) => `${method} ${maskQuery(url)}`;

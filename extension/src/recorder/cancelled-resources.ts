import type { ObservedRequest } from './observed-request.ts';
import type { FrameResource, FrameTimings } from './page-timings.ts';
import { isUnanswered, showsAnswer } from './unanswered.ts';

/** Chromium cancels requests this long before it tells the page that it is left, at most, milliseconds. */
const CANCELLED_MS = 100;

/**
 * Leaves out the requests that were cancelled because their page was left. Browsers have entries of them, which look like those of responses that
 * they withhold from the page: in Chromium they end with the page, in Firefox at any time.
 */
export function withoutCancelled(timings: FrameTimings, leftMs: number): FrameTimings {
  const isCancelled = (resource: FrameResource) =>
    showsAnswer(timings, resource)
      ? isUnanswered(resource)
      : resource.responseStart === 0 && resource.responseEnd > leftMs - CANCELLED_MS;
  return { ...timings, resources: timings.resources.filter((each) => !isCancelled(each)) };
}

/** Leaves the same requests out of those that the browser reported. @param leftAtMs milliseconds since 1970 */
export const withoutAborted = (requests: readonly ObservedRequest[], leftAtMs: number): ObservedRequest[] =>
  requests.filter(
    ({ fromCache, headersAt, endedAt }) =>
      fromCache || headersAt !== null || (endedAt !== null && endedAt < leftAtMs - CANCELLED_MS),
  );

import { groupBy } from '@hopwise/contract';
import type { FrameReport } from './joined-request.ts';
import type { ObservedRequest } from './observed-request.ts';
import type { FrameResource, ResourceEntry } from './page-timings.ts';
import { withoutFragment } from './url-text.ts';

/** What a load's frames measured, and which of its requests were observed. */
interface ObservedFrames {
  frames: readonly FrameReport[];
  /** See `LoadObservation`. */
  seesRequests: boolean;
  seesAllSites: boolean;
}

/** Whether a request is for the document of a frame. */
export function isNavigation({ type }: ObservedRequest): boolean {
  return type === 'document' || type === 'iframe';
}

/** Returns the id of the frame whose timings list the request: for an iframe's document, the parent's. */
export function findHoldingFrame(request: ObservedRequest): number {
  return isNavigation(request) ? request.parentFrameId : request.frameId;
}

/** Key that a request shares with its Resource Timing entry. */
function entryKey(request: ObservedRequest): string {
  return `${findHoldingFrame(request)} ${withoutFragment(request.url)}`;
}

/**
 * Finds each request's Resource Timing entry: same frame, and same URL before redirects. Several of one
 * URL are paired in order when there are as many entries as requests, otherwise by time.
 *
 * @param chains hops of each request
 * @param unsent requests that were blocked or cancelled before they reached the network: their entries look like
 *   those of resources from the memory cache, and are left out
 */
export function pairEntries(
  chains: ObservedRequest[][],
  unsent: ObservedRequest[],
  { frames, seesRequests, seesAllSites }: ObservedFrames,
) {
  const paired = new Map<ObservedRequest[], FrameResource>();
  const unpaired: { frame: FrameReport; entry: FrameResource }[] = [];
  // A CORS preflight has the same URL as its request, and no entry of its own.
  const requests = groupBy(
    chains.filter((chain) => chain[0]!.method !== 'OPTIONS'),
    (chain) => entryKey(chain[0]!),
  );
  const blocked = groupBy(unsent, entryKey);
  for (const frame of frames) {
    for (const [url, entries] of groupBy(frame.resources, (entry) => withoutFragment(entry.name))) {
      const key = `${frame.frameId} ${url}`;
      const same = requests.get(key) ?? [];
      const remaining = entries.toSorted((a, b) => a.startTime - b.startTime);
      const inOrder = same.length === remaining.length;
      for (const chain of same) {
        const at = inOrder ? 0 : findNearestEntry(chain, remaining, frame.timeOrigin);
        const [entry] = at < 0 ? [] : remaining.splice(at, 1);
        if (entry) paired.set(chain, entry);
      }
      // Every request is observed, also those that a cache answers: further entries are repeated uses from memory.
      if (same.length > 0) continue;
      const unblocked = remaining.slice(blocked.get(key)?.length ?? 0);
      // An entry alone does not show whether the request to another site was blocked: most are not.
      const others = unblocked.filter((entry) =>
        seesRequests && seesAllSites ? hasTimings(entry) : hasTimings(entry) || tookTime(entry),
      );
      unpaired.push(...others.map((entry) => ({ frame, entry })));
    }
  }
  return { paired, unpaired };
}

/**
 * Whether an entry shows that the resource was loaded. The entry of a request that a policy of the page blocked does not; nor
 * does that of a cross-origin resource from memory, which does not use the network either.
 */
export function hasTimings({
  responseStart,
  transferSize,
  decodedBodySize,
  deliveryType,
}: ResourceEntry): boolean {
  return responseStart > 0 || transferSize > 0 || decodedBodySize > 0 || deliveryType !== '';
}

/** A transfer over a network takes longer; a blocked request, and a resource from memory, does not. */
const MIN_TRANSFER_MS = 2;

const tookTime = ({ fetchStart, responseEnd }: ResourceEntry): boolean =>
  responseEnd - fetchStart >= MIN_TRANSFER_MS;

/** Maximum difference between the clocks of the browser process and of the page. */
const CLOCK_TOLERANCE_MS = 2000;

/**
 * Finds the entry whose end is closest to a request's end. Starts are less reliable: the page's own scheduler may delay a
 * request for seconds before the browser process receives it.
 *
 * @returns its index, -1 when no entry overlaps the request
 */
function findNearestEntry(chain: ObservedRequest[], entries: ResourceEntry[], timeOrigin: number): number {
  const { startedAt } = chain[0]!;
  const endedAt = chain.at(-1)!.endedAt ?? Number.POSITIVE_INFINITY;
  let best = -1;
  let smallest = Number.POSITIVE_INFINITY;
  for (const [index, entry] of entries.entries()) {
    const difference = Math.abs(timeOrigin + entry.responseEnd - endedAt);
    const overlap =
      timeOrigin + entry.startTime <= endedAt + CLOCK_TOLERANCE_MS &&
      timeOrigin + entry.responseEnd >= startedAt - CLOCK_TOLERANCE_MS;
    if (overlap && difference < smallest) {
      best = index;
      smallest = difference;
    }
  }
  return best;
}

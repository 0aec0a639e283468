import type { PaintTimes, RecordedRequest, Recording } from '@hopwise/contract';
import type { FetchActivity, PageGraph } from './page-graph.ts';

/** What of a recording tells of its paints. */
export type PaintedLoad = Pick<
  Recording,
  'requests' | 'firstContentfulPaintMs' | 'largestContentfulPaintMs' | 'largestContentfulPaintUrl'
>;

/** What a paint waits for: the last of some activities, and then a time that the network does not change. */
interface PaintRule {
  after: readonly number[];
  delayMs: number;
}

/** An image that is painted last arrived this long before the paint at the most: decoding it and the next frame take no longer. */
const MAX_PAINT_MS = 250;
/** Paints this close together are one frame. */
const SAME_FRAME_MS = 20;
const CLOCK_SLACK_MS = 5;

/**
 * First and largest contentful paint of emulated loads. The first waits for the document and all that blocks rendering;
 * the largest for the image that it showed in the recording, where one arrived shortly before it, and else for the first paint. What
 * passed between these and the recorded paints (layout, scripts, the next frame) passes in every load.
 */
export class PaintModel {
  readonly #first: PaintRule;
  /** Null where the largest paint follows the first. */
  readonly #largest: PaintRule | null;
  /** From first to largest where no arrival explains it. */
  readonly #laterMs: number;

  constructor(recording: PaintedLoad, graph: PageGraph) {
    const { firstContentfulPaintMs: firstMs, largestContentfulPaintMs: largestMs } = recording;
    const fetches = graph.activities.filter((activity) => activity.kind === 'fetch');
    const endMs = ({ requestId }: FetchActivity) => recording.requests[requestId]?.endMs ?? 0;
    const blocking = fetches.filter(
      (fetch) => fetch.renderBlocking && (firstMs === null || endMs(fetch) <= firstMs + CLOCK_SLACK_MS),
    );
    this.#first = ruleOf(blocking, endMs, firstMs);
    const image = largestMs === null ? null : largestImage(recording, fetches, largestMs);
    this.#largest = image === null ? null : ruleOf([image], endMs, largestMs);
    this.#laterMs = firstMs === null || largestMs === null ? 0 : Math.max(0, largestMs - firstMs);
    if (this.#laterMs < SAME_FRAME_MS) this.#largest = null;
  }

  /** Whether all that the paints wait for had ended. @param endMs of each activity; negative of what had not */
  isKnown(endMs: Float64Array): boolean {
    return [this.#first, this.#largest].every((rule) => rule?.after.every((id) => endMs[id]! >= 0) ?? true);
  }

  /** @param endMs end of each activity of the load */
  timesOf(endMs: Float64Array): PaintTimes {
    const first = timeOf(this.#first, endMs);
    if (first === null) return { firstContentfulPaintMs: null, largestContentfulPaintMs: null };
    const largest = this.#largest === null ? first + this.#laterMs : timeOf(this.#largest, endMs)!;
    return { firstContentfulPaintMs: first, largestContentfulPaintMs: Math.max(first, largest) };
  }
}

function ruleOf(
  fetches: readonly FetchActivity[],
  endMs: (fetch: FetchActivity) => number,
  paintMs: number | null,
): PaintRule {
  const lastMs = fetches.reduce((last, fetch) => Math.max(last, endMs(fetch)), 0);
  return {
    after: fetches.map(({ id }) => id),
    delayMs: paintMs === null ? 0 : Math.max(0, paintMs - lastMs),
  };
}

function timeOf({ after, delayMs }: PaintRule, endMs: Float64Array): number | null {
  if (after.length === 0) return null;
  return after.reduce((last, id) => Math.max(last, endMs[id]!), 0) + delayMs;
}

/** The image of the largest paint: the one that the recorder names, or of those that arrived shortly before it the one with most bytes. */
function largestImage(
  { requests, largestContentfulPaintUrl: url }: PaintedLoad,
  fetches: readonly FetchActivity[],
  paintMs: number,
): FetchActivity | null {
  if (url === null) return null;
  if (url !== undefined) return fetches.find((fetch) => fetch.url === url) ?? null;
  const isNear = ({ type, endMs }: RecordedRequest) =>
    type === 'image' && endMs <= paintMs + CLOCK_SLACK_MS && endMs >= paintMs - MAX_PAINT_MS;
  return fetches
    .filter(({ requestId }) => isNear(requests[requestId]!))
    .reduce<FetchActivity | null>(
      (largest, fetch) =>
        largest !== null && largest.responseBytes >= fetch.responseBytes ? largest : fetch,
      null,
    );
}

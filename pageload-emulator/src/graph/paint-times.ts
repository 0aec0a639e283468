import { CLOCK_SLACK_MS, type PaintTimes, type RecordedRequest, type Recording } from '@hopwise/contract';
import type { FetchActivity, PageGraph } from './page-graph.ts';

/** Fields of a recording that paint times are derived from. */
export type PaintedLoad = Pick<
  Recording,
  'requests' | 'pltMs' | 'firstContentfulPaintMs' | 'largestContentfulPaintMs' | 'largestContentfulPaintUrl'
>;

/** A paint comes `delayMs`, which does not depend on the network, after the last of some activities. */
interface PaintRule {
  after: readonly number[];
  delayMs: number;
}

/** An image arrives at most this long before its paint: decoding and the next frame take no longer. */
const MAX_PAINT_MS = 250;
/** Paints this close together are one frame. */
const SAME_FRAME_MS = 20;

/**
 * Derives first and largest contentful paint of emulated loads. The first paint waits for the document and everything that
 * blocks rendering; the largest for its image in the recording, or, when no image arrived shortly before it, for the first
 * paint. The time between those and the recorded paints (layout, scripts, the next frame) is the same in every load, unless that would
 * move a paint from before the load event to after it. A paint that the recording does not show is unknown in every load: only
 * the arrival of what blocks it could be predicted.
 */
export class PaintModel {
  readonly #first: PaintRule;
  /** Null where the largest paint follows the first. */
  readonly #largest: PaintRule | null;
  /** From first to largest paint when no image explains the largest. */
  readonly #laterMs: number;
  readonly #isFirstRecorded: boolean;
  /** Whether the largest paint can be told: it was recorded, and an image or the recorded first paint explains it. */
  readonly #isLargestRecorded: boolean;
  /** Whether the recorded load's first paint came before its load event. */
  readonly #isFirstBeforeLoad: boolean;
  /**
   * How long after the load event the largest paint may come, milliseconds: not at all where it came before it in the recording, no longer than
   * there where no image explains it; null for no limit.
   */
  readonly #largestAfterLoadMs: number | null;

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
    if (firstMs !== null && this.#laterMs < SAME_FRAME_MS) this.#largest = null;
    this.#isFirstRecorded = firstMs !== null;
    this.#isLargestRecorded = largestMs !== null && (firstMs !== null || this.#largest !== null);
    const afterLoadMs = (paintMs: number | null) =>
      paintMs === null || recording.pltMs === null ? null : Math.max(0, paintMs - recording.pltMs);
    this.#isFirstBeforeLoad = afterLoadMs(firstMs) === 0;
    const largestAfterMs = afterLoadMs(largestMs);
    this.#largestAfterLoadMs = largestAfterMs === 0 || image === null ? largestAfterMs : null;
  }

  /**
   * Whether everything that the paints wait for has ended.
   *
   * @param endMs end of each activity of the load; negative for those that have not ended
   */
  isKnown(endMs: Float64Array): boolean {
    return [this.#first, this.#largest].every((rule) => rule?.after.every((id) => endMs[id]! >= 0) ?? true);
  }

  /**
   * Returns the paint times of a load.
   *
   * @param endMs end of each activity of the load, milliseconds
   */
  timesOf(endMs: Float64Array): PaintTimes {
    const first = timeOf(this.#first, endMs);
    if (first === null) return { firstContentfulPaintMs: null, largestContentfulPaintMs: null };
    const largest = this.#largest === null ? first + this.#laterMs : timeOf(this.#largest, endMs)!;
    return {
      firstContentfulPaintMs: this.#isFirstRecorded ? first : null,
      largestContentfulPaintMs: this.#isLargestRecorded ? Math.max(first, largest) : null,
    };
  }

  /**
   * Keeps paints that came before the load event in the recording before it, and a largest paint that no image explains as close behind it.
   * Where they would come later, what they waited for besides their resources depended on the network as the load event did.
   *
   * @param pltMs when the load event comes, milliseconds
   */
  keepBeforeLoad(paints: PaintTimes, pltMs: number): PaintTimes {
    const { firstContentfulPaintMs: first, largestContentfulPaintMs: largest } = paints;
    const latestMs = this.#largestAfterLoadMs === null ? null : pltMs + this.#largestAfterLoadMs;
    // No paint comes before the first.
    const latestFirstMs = this.#isFirstBeforeLoad ? pltMs : latestMs;
    return {
      firstContentfulPaintMs: atMost(first, latestFirstMs),
      largestContentfulPaintMs: atMost(largest, latestMs),
    };
  }
}

const atMost = (paintMs: number | null, latestMs: number | null): number | null =>
  paintMs === null || latestMs === null ? paintMs : Math.min(paintMs, latestMs);

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

/** Finds the image of the largest paint: the one that the recorder names, else the largest of those that arrived shortly before it. */
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

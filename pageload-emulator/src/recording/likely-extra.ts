/** Half of all origins are assumed to be within this much of the nearest one: of the order of the distances inside a continent. */
const MEDIAN_EXTRA_MS = 30;

/**
 * Returns the likely round trip of an origin that shows no handshake, which its waits bound from above, milliseconds; null without any.
 *
 * @param waitMs the shortest of them; null for none
 * @param nearestMs round trip of the path; null where it is unknown
 */
export function unseenRoundTrip(waitMs: number | null, nearestMs: number | null): number | null {
  if (nearestMs === null || waitMs === null) return nearestMs;
  return nearestMs + likelyExtraMs(0, Math.max(0, waitMs - nearestMs));
}

/**
 * Returns the likely round trip of an origin beyond the path's, milliseconds, between two bounds: the median of the Lomax distribution
 * P(extra > x) = m / (m + x), m = `MEDIAN_EXTRA_MS`.
 */
export function likelyExtraMs(minMs: number, maxMs: number): number {
  const beyond = (ms: number) => MEDIAN_EXTRA_MS / (MEDIAN_EXTRA_MS + ms);
  return MEDIAN_EXTRA_MS / ((beyond(minMs) + beyond(maxMs)) / 2) - MEDIAN_EXTRA_MS;
}

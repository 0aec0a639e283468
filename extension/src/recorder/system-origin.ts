import type { FrameTimings } from './page-timings.ts';

/** A larger difference is more than the browser's clock deviates in a day, or a frame waits between two readings, milliseconds. */
const MAX_DEVIATION_MS = 500;

/**
 * When a frame's document began by the system's clock, milliseconds since 1970. `performance.timeOrigin` counts from it by a clock that stands still while the
 * machine sleeps (except on Windows), and that Firefox sets once for each process, Chromium for each document: after a sleep, or where the system's clock
 * was set, two frames of a page may be hours apart, and a load seem to be of hours ago.
 */
export function findSystemOrigin({ timeOrigin, systemOrigin = timeOrigin }: FrameTimings): number {
  // Otherwise the browser's is more exact.
  return Math.abs(systemOrigin - timeOrigin) > MAX_DEVIATION_MS ? systemOrigin : timeOrigin;
}

/** A request's wait for the first byte of its response. */
export interface WaitSpan {
  /** `RecordedRequest.id`. */
  id: number;
  origin: string;
  /** Milliseconds after navigationStart. */
  fromMs: number;
  toMs: number;
  /** The wait less the round trip, milliseconds. */
  excessMs: number;
}

/** Waits count as simultaneous when they have this share of the shorter one in common. */
const MIN_OVERLAP = 0.5;
/** Number of waits that are compared with, before and after in order of their beginnings. */
const MAX_NEIGHBOURS = 64;

/**
 * Finds by how much all requests to other origins were delayed that waited at the same time, milliseconds by `WaitSpan.id`. Servers of
 * different origins take their time independently of each other, so what delays all of them at once is the link.
 *
 * @returns without those that waited alone
 */
export function sharedDelays(spans: readonly WaitSpan[]): ReadonlyMap<number, number> {
  const ordered = spans.toSorted((a, b) => a.fromMs - b.fromMs);
  const shared = new Map<number, number>();
  for (const [index, span] of ordered.entries()) {
    let sharedMs = Number.POSITIVE_INFINITY;
    for (const step of [-1, 1]) {
      for (let count = 1; count <= MAX_NEIGHBOURS; count++) {
        const other = ordered[index + step * count];
        if (other === undefined || other.fromMs >= span.toMs) break;
        if (other.excessMs < sharedMs && other.origin !== span.origin && areSimultaneous(span, other))
          sharedMs = other.excessMs;
      }
    }
    if (Number.isFinite(sharedMs)) shared.set(span.id, sharedMs);
  }
  return shared;
}

function areSimultaneous(a: WaitSpan, b: WaitSpan): boolean {
  const overlapMs = Math.min(a.toMs, b.toMs) - Math.max(a.fromMs, b.fromMs);
  return overlapMs >= MIN_OVERLAP * Math.min(a.toMs - a.fromMs, b.toMs - b.fromMs);
}

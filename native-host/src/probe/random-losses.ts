/** Separates random loss from drops at the bottleneck's full queue. */
import type { Verification } from '@hopwise/contract';
import type { LossesAtRtt } from '../curl/loss-counter.ts';

/** Losses by queueing delay, milliseconds. */
type LossesAtDelay = Omit<LossesAtRtt, 'rttMs'> & { queueMs: number };

/** A queue counts as full from half of the delay that this share of the packets stayed below; both are assumed. */
const FULL_QUANTILE = 0.95;
const FULL_SHARE = 0.5;
/** Delays below this are jitter, not a queue, milliseconds. */
const MIN_FULL_MS = 10;
/** Fewer packets say nothing about loss. */
const MIN_PACKETS = 100;

/**
 * The losses while the queue was far from full, and the packets received meanwhile. A drop-tail queue drops nothing then, and random
 * loss does not depend on the queue.
 *
 * @returns undefined where too few packets arrived meanwhile
 */
export function randomLosses(atDelay: readonly LossesAtDelay[]): Verification['randomLoss'] {
  const fullMs = Math.max(MIN_FULL_MS, FULL_SHARE * quantileMs(atDelay, FULL_QUANTILE));
  const total = { packets: 0, events: 0, lost: 0 };
  for (const { queueMs, packets, events, lost } of atDelay) {
    if (queueMs > fullMs) continue;
    // Lost packets were sent too.
    total.packets += packets + lost;
    total.events += events;
    total.lost += lost;
  }
  return total.packets < MIN_PACKETS ? undefined : total;
}

/** Queueing delay that this share of the packets stayed at or below; 0 without packets. */
function quantileMs(atDelay: readonly LossesAtDelay[], share: number): number {
  const ascending = atDelay.toSorted((a, b) => a.queueMs - b.queueMs);
  let left = share * ascending.reduce((sum, { packets }) => sum + packets, 0);
  for (const { queueMs, packets } of ascending) {
    left -= packets;
    if (left <= 0) return queueMs;
  }
  return 0;
}

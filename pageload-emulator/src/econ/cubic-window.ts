import type { Epoch } from './epoch.ts';

/** RFC 9438 section 5: segments per second cubed; seconds, where the paper's reading allows round trips. */
const C = 0.4;
/** RFC 9438 section 4.3: Reno's increase that gives the same rate with Cubic's decrease. */
const RENO_FRIENDLY = (3 * (1 - 0.7)) / (1 + 0.7);
/** RFC 9438 section 4.2: a round grows the window by no more. */
const MAX_GROWTH = 1.5;

/**
 * ECON's appendix: cwnd_j = C((j − 1)·RTT − K)³ + W_max, with all of it inside the sum over rounds; RFC 9438
 * figure 1. K = cbrt((W_max − scwnd) / C), which is ECON's cbrt(W_max·β/C) when W_max = scwnd / (1 − β).
 *
 * @param sinceMs time since the epoch's start
 */
export function cubicWindow(epoch: Epoch, sinceMs: number): number {
  const plateau = Math.max(epoch.windowMax, epoch.start);
  const kSeconds = Math.cbrt((plateau - epoch.start) / C);
  return C * (sinceMs / 1000 - kSeconds) ** 3 + plateau;
}

/**
 * RFC 9438 section 4.3, W_est: what Reno would have; ECON has no such region.
 *
 * @param round rounds completed since the epoch's start
 */
export function renoFriendlyWindow(epoch: Epoch, round: number): number {
  const below = Math.min(round, Math.max(0, Math.ceil((epoch.prior - epoch.start) / RENO_FRIENDLY)));
  return epoch.start + RENO_FRIENDLY * below + (round - below);
}

/** The window of Cubic's sender, the larger of the two, after `round` rounds of `sinceMs` in all. */
export function cubicClimb(epoch: Epoch, round: number, sinceMs: number, before: number): number {
  return Math.max(
    Math.min(cubicWindow(epoch, sinceMs), MAX_GROWTH * before),
    renoFriendlyWindow(epoch, round),
  );
}

import type { KnownNetwork, Recording } from '@hopwise/contract';
import { hasH3Answer } from '../recording/visit.ts';
import type { NetworkEstimate } from './estimate-network.ts';

// In 511 loads of the gauntlet's training and validation cells the estimated round trip was 1 to 1.66 times the true one in 95%,
// 2.1 times or less in 98%; the estimated rate was at most 1.8 times the true one in 98%.

/** A handshake is not shorter than the path's round trip, but for rounding. */
const MIN_RTT_RATIO = 0.9;
/** Servers and processors make it longer: both limits must be exceeded. */
const MAX_RTT_RATIO = 2.2;
const MAX_RTT_EXCESS_MS = 30;
const MAX_RATE_RATIO = 3;

/** Whether a load cannot have been recorded on the network whose figures are given. Figures that are not given may have any value. */
export function isRecordedElsewhere(
  recording: Recording,
  { path, sources }: NetworkEstimate,
  { rttMs, downBps, udp }: KnownNetwork,
): boolean {
  if (rttMs !== undefined && sources.rttMs === 'estimated') {
    if (path.rttMs < MIN_RTT_RATIO * rttMs) return true;
    if (path.rttMs > MAX_RTT_RATIO * rttMs && path.rttMs - rttMs > MAX_RTT_EXCESS_MS) return true;
  }
  if (downBps !== undefined && sources.downBps === 'estimated' && path.downBps > MAX_RATE_RATIO * downBps)
    return true;
  return udp?.kind === 'blocked' && hasH3Answer(recording);
}

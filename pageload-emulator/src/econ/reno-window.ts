import type { Epoch } from './epoch.ts';

/**
 * ECON's window of Reno in round j of an epoch, cwnd_j = scwnd + j − 1 (after Padhye et al., SIGCOMM 1998, with
 * every segment acknowledged: b = 1).
 *
 * @param round rounds completed since the epoch's start, j − 1
 */
export function renoWindow(epoch: Epoch, round: number): number {
  return epoch.start + round;
}

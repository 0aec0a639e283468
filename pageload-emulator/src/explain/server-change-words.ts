import type { CongestionControl } from '@hopwise/contract';
import type { ServerChange } from '../network/server-change.ts';

const CONTROL_NAME: Record<CongestionControl, string> = {
  cubic: 'Cubic',
  reno: 'Reno',
  bbr: 'BBR',
  hybla: 'Hybla',
  'quiche-cubic': "quiche's Cubic",
};

/** Describes a change as a noun phrase: "an initial window of 32 packets and BBR". */
export function changeInWords(change: ServerChange): string {
  const { initialWindow, congestionControl, startBps, startShare } = change;
  const parts: string[] = [];
  if (initialWindow !== undefined) {
    parts.push(`an initial window of ${initialWindow} packet${initialWindow === 1 ? '' : 's'}`);
  }
  if (startShare !== undefined) parts.push(`a start at ${startShare} times the link's rate`);
  else if (startBps !== undefined) parts.push(`a start at ${startBps / 1e6} Mbit/s`);
  if (congestionControl !== undefined) parts.push(CONTROL_NAME[congestionControl]);
  return parts.length === 0 ? 'the present servers' : parts.join(' and ');
}

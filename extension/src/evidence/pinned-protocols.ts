import type { Assignment, Recording } from '@hopwise/contract';
import { durationOf, type PinPeriod } from './pin-period.ts';

/**
 * The protocols that pins held a load's origins to. Null when a pin began or ended during the load, or did not keep its origin off
 * HTTP/3: the load is then neither one with these pins nor one without.
 *
 * @param periods of pins that were active during the load
 */
export function findPinnedProtocols(recording: Recording, periods: readonly PinPeriod[]): Assignment | null {
  const load = durationOf(recording);
  const pinned: Assignment = {};
  for (const origin of new Set(recording.requests.map(({ url }) => new URL(url).origin))) {
    for (const { kind, sinceMs, endedMs } of periods.filter((period) => period.origin === origin)) {
      const isWhole = sinceMs <= load.beganMs && (endedMs === null || endedMs >= load.endedMs);
      const protocol = kind === 'avoid-h3' ? usedProtocol(recording, origin) : kind;
      if (!isWhole || (kind === 'avoid-h3' && protocol === 'h3')) return null;
      pinned[origin] = protocol;
    }
  }
  return pinned;
}

/** The protocol that an origin used: HTTP/3 if it was used at all, HTTP/2 where the recording does not show it. */
function usedProtocol({ requests }: Recording, origin: string): 'h1' | 'h2' | 'h3' {
  const own = requests.filter(({ url, fromCache }) => !fromCache && new URL(url).origin === origin);
  const isUsed = (protocol: string) => own.some((request) => request.protocol === protocol);
  if (isUsed('h3')) return 'h3';
  return isUsed('h1') && !isUsed('h2') ? 'h1' : 'h2';
}

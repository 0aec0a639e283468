import { type Assignment, EVERY_ORIGIN, type Recording } from '@hopwise/contract';
import type { StoredLoad } from '../storage/loads.ts';
import { durationOf, findPeriodsOf, type PinPeriod } from './pin-period.ts';

/**
 * The protocols that pins held a load's origins to, in one entry for all that a pin of `EVERY_ORIGIN` held: pages request something from
 * other servers in every load, and would otherwise never have the same pins twice. Null when a pin began or ended during the load, or did not keep its origin off
 * HTTP/3, or chose the protocol request by request: the load is then neither one with these pins nor one without.
 *
 * @param periods of pins that were active during the load
 */
export function findPinnedProtocols(recording: Recording, periods: readonly PinPeriod[]): Assignment | null {
  const load = durationOf(recording);
  const pinned: Assignment = {};
  for (const origin of new Set(recording.requests.map(({ url }) => new URL(url).origin))) {
    for (const { origin: held, kind, sinceMs, endedMs } of findPeriodsOf(origin, periods)) {
      const isWhole = sinceMs <= load.beganMs && (endedMs === null || endedMs >= load.endedMs);
      // It may have changed from one request to the next.
      if (kind === 'auto') return null;
      const protocol = kind === 'avoid-h3' ? usedProtocol(recording, origin) : kind;
      if (!isWhole || (kind === 'avoid-h3' && protocol === 'h3')) return null;
      pinned[held] = held === EVERY_ORIGIN ? 'h2' : protocol;
    }
  }
  return pinned;
}

/** The protocols that pins held each origin of a load to, of its own or by a pin of `EVERY_ORIGIN`. */
export function listPinnedProtocols({
  pinned,
  recording,
}: Pick<StoredLoad, 'pinned' | 'recording'>): Assignment {
  if (pinned?.[EVERY_ORIGIN] === undefined) return pinned ?? {};
  const { [EVERY_ORIGIN]: _every, ...own } = pinned;
  const origins = recording.requests
    .map(({ url }) => new URL(url).origin)
    .filter((origin) => origin.startsWith('https:'));
  const used = [...new Set(origins)].map((origin) => [origin, usedProtocol(recording, origin)]);
  return { ...Object.fromEntries(used), ...own };
}

/** The protocol that an origin used: HTTP/3 if it was used at all, HTTP/2 where the recording does not show it. */
function usedProtocol({ requests }: Recording, origin: string): 'h1' | 'h2' | 'h3' {
  const own = requests.filter(({ url, fromCache }) => !fromCache && new URL(url).origin === origin);
  const isUsed = (protocol: string) => own.some((request) => request.protocol === protocol);
  if (isUsed('h3')) return 'h3';
  return isUsed('h1') && !isUsed('h2') ? 'h1' : 'h2';
}

import { type Assignment, EVERY_ORIGIN, type Protocol, type Recording } from '@hopwise/contract';
import { factsOf, type KnownLoad, listResponses } from '../load/load-summary.ts';
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
  const sent = recording.requests.filter(({ fromCache }) => !fromCache);
  const responses = sent.map(({ url, protocol }) => ({ origin: new URL(url).origin, protocol }));
  for (const origin of new Set(recording.requests.map(({ url }) => new URL(url).origin))) {
    for (const { origin: held, kind, sinceMs, endedMs } of findPeriodsOf(origin, periods)) {
      const isWhole = sinceMs <= load.beganMs && (endedMs === null || endedMs >= load.endedMs);
      // It may have changed from one request to the next.
      if (kind === 'auto') return null;
      const protocol = kind === 'avoid-h3' ? usedProtocol(responses, origin) : kind;
      if (!isWhole || (kind === 'avoid-h3' && protocol === 'h3')) return null;
      pinned[held] = held === EVERY_ORIGIN ? 'h2' : protocol;
    }
  }
  return pinned;
}

/** The protocols that pins held each origin of a load to, of its own or by a pin of `EVERY_ORIGIN`. */
export function listPinnedProtocols(load: KnownLoad): Assignment {
  const { pinned } = load;
  if (pinned?.[EVERY_ORIGIN] === undefined) return pinned ?? {};
  const { [EVERY_ORIGIN]: _every, ...own } = pinned;
  const responses = listResponses(load);
  const used = factsOf(load)
    .origins.filter((origin) => origin.startsWith('https:'))
    .map((origin) => [origin, usedProtocol(responses, origin)]);
  return { ...Object.fromEntries(used), ...own };
}

/** The protocol that an origin used: HTTP/3 if it was used at all, HTTP/2 where the responses do not show it. */
function usedProtocol(
  responses: readonly { origin: string; protocol: Protocol | null }[],
  origin: string,
): Protocol {
  const isUsed = (protocol: Protocol) =>
    responses.some((each) => each.origin === origin && each.protocol === protocol);
  if (isUsed('h3')) return 'h3';
  return isUsed('h1') && !isUsed('h2') ? 'h1' : 'h2';
}

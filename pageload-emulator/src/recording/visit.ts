import type { Recording } from '@hopwise/contract';
import { originOf } from '../util/url.ts';

/**
 * Whether a browser without pins recorded a first visit, in which it met an origin that offers HTTP/3 over TCP, or a later one.
 * Null when no request to an origin that offers HTTP/3 shows its protocol.
 */
export function recordedVisit({ requests }: Recording): 'first' | 'later' | null {
  const offering = new Set<string>();
  for (const { url, protocol, offersH3 } of requests) {
    const origin = originOf(url);
    if (origin !== null && (protocol === 'h3' || offersH3)) offering.add(origin);
  }
  const begun = new Set<string>();
  for (const { url, protocol } of requests) {
    const origin = originOf(url);
    if (origin === null || protocol === null || begun.has(origin) || !offering.has(origin)) continue;
    if (protocol !== 'h3') return 'first';
    begun.add(origin);
  }
  return begun.size > 0 ? 'later' : null;
}

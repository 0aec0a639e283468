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
    if (origin !== null && (protocol === 'h3' || (offersH3 && isSecure(url)))) offering.add(origin);
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

/** Whether a response came over HTTP/3. */
export function hasH3Answer({ requests }: Pick<Recording, 'requests'>): boolean {
  return requests.some(({ protocol, status }) => protocol === 'h3' && status !== 0);
}

/** Browsers use HTTP/3 for https origins only, whatever an http origin announces (RFC 9114, section 3.1). */
function isSecure(url: string): boolean {
  return url.startsWith('https:');
}

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

/** Whether requests went over HTTP/3, or may have, as the recording withholds the protocols of origins that offer it. */
export function mayHaveUsedH3({ requests }: Recording): boolean {
  const offering = new Set(
    requests.filter(({ offersH3, url }) => offersH3 && isSecure(url)).map(({ url }) => originOf(url)),
  );
  return requests.some(
    ({ url, protocol, fromCache, status }) =>
      protocol === 'h3' || (protocol === null && !fromCache && status !== 0 && offering.has(originOf(url))),
  );
}

/** Browsers use HTTP/3 for https origins only, whatever an http origin announces (RFC 9114, section 3.1). */
function isSecure(url: string): boolean {
  return url.startsWith('https:');
}

import type { PinKind, Protocol } from '@hopwise/contract';
import type { OriginRecommendation, Recording } from '@hopwise/pageload-emulator';
import { isLocalOrigin, isPinnable } from '../pinnable-origin.ts';

/** The protocol that carried most of each origin's requests, among those whose protocol the browser reports. */
export function findProtocolsInUse({ requests }: Pick<Recording, 'requests'>): Map<string, Protocol> {
  const counts = new Map<string, Map<Protocol, number>>();
  for (const { url, protocol } of requests) {
    if (protocol === null || !URL.canParse(url)) continue;
    const { origin } = new URL(url);
    const ofOrigin = counts.get(origin) ?? new Map<Protocol, number>();
    ofOrigin.set(protocol, (ofOrigin.get(protocol) ?? 0) + 1);
    counts.set(origin, ofOrigin);
  }
  const inUse = new Map<string, Protocol>();
  for (const [origin, ofOrigin] of counts) {
    const [most] = [...ofOrigin].sort(([, a], [, b]) => b - a);
    if (most) inUse.set(origin, most[0]);
  }
  return inUse;
}

/**
 * Pins that would make the page load faster than the browser's own choice, with a decided prediction; the pin with the
 * fewest requirements first.
 *
 * @param inUse the protocol that carried the origin's requests, if known
 */
export function suggestPins(
  { origin, decided, protocol, pltMs }: OriginRecommendation,
  inUse: Protocol | undefined,
): PinKind[] {
  if (!decided || !isPinnable(origin) || isLocalOrigin(origin)) return [];
  const { hostname } = new URL(origin);
  const kinds: PinKind[] = [];
  // Browsers switch to HTTP/3 after the first visit to an origin that offers it.
  const withoutHttp3 = pltMs.h2 ?? pltMs.h1;
  const isSlower = pltMs.h3 !== undefined && withoutHttp3 !== undefined && withoutHttp3 < pltMs.h3;
  if (protocol !== 'h3' && isSlower) kinds.push('avoid-h3');
  const usual = inUse ?? (['h3', 'h2', 'h1'] as const).find((one) => pltMs[one] !== undefined);
  const isUnlike = protocol !== usual || (protocol !== 'h3' && pltMs.h3 !== undefined);
  if (isUnlike && isName(hostname)) kinds.push(protocol);
  return kinds;
}

/** Whether another suggested pin has the same effect without needing a CA. */
export function isRedundant(kind: PinKind, kinds: readonly PinKind[]): boolean {
  return kind === 'h2' && kinds.includes('avoid-h3');
}

/** The local CA's name constraints cover DNS names only, not IP addresses. */
function isName(host: string): boolean {
  return !host.startsWith('[') && !/^[\d.]+$/.test(host);
}

import { isAskedWithoutProxy, type PinKind } from '@hopwise/contract';
import type { OriginRecommendation, Protocol, Recording } from '@hopwise/pageload-emulator';

/** The version that carried most of each origin's requests, as far as the browser told. */
export function protocolsInUse({ requests }: Pick<Recording, 'requests'>): Map<string, Protocol> {
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
 * Pins under which the page would surely load sooner than as the browser has it, the one that needs least first.
 *
 * @param inUse what carried the origin's requests, where that is known
 */
export function usefulPins(
  { origin, decided, protocol, pltMs }: OriginRecommendation,
  inUse: Protocol | undefined,
): PinKind[] {
  if (!decided || !origin.startsWith('https://')) return [];
  const { hostname } = new URL(origin);
  if (isAskedWithoutProxy(hostname)) return [];
  const kinds: PinKind[] = [];
  // An origin that offers HTTP/3 comes to be used over it, whatever its first visit was.
  const withoutHttp3 = pltMs.h2 ?? pltMs.h1;
  const isSlower = pltMs.h3 !== undefined && withoutHttp3 !== undefined && withoutHttp3 < pltMs.h3;
  if (protocol !== 'h3' && isSlower) kinds.push('avoid-h3');
  const usual = inUse ?? (['h3', 'h2', 'h1'] as const).find((one) => pltMs[one] !== undefined);
  const isUnlike = protocol !== usual || (protocol !== 'h3' && pltMs.h3 !== undefined);
  if (isUnlike && isName(hostname)) kinds.push(protocol);
  return kinds;
}

/** Whether a pin that needs no CA has the same effect. */
export function isSpared(kind: PinKind, kinds: readonly PinKind[]): boolean {
  return kind === 'h2' && kinds.includes('avoid-h3');
}

/** CAs vouch for names, not for addresses. */
function isName(host: string): boolean {
  return !host.startsWith('[') && !/^[\d.]+$/.test(host);
}

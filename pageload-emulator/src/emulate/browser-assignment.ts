import { type Assignment, PROTOCOLS, type Protocol, type ServerProfile } from '@hopwise/contract';

/**
 * The protocols that a browser uses by itself: the newest that each origin offers and the network carries. Where UDP is blocked
 * it remembers that HTTP/3 is broken (Chromium: for five minutes at first, then up to two days).
 */
export function browserAssignment(
  origins: readonly string[],
  servers: readonly ServerProfile[],
  isCarried: (protocol: Protocol) => boolean = () => true,
): Assignment {
  const offers = new Map(servers.map((server) => [server.origin, server.offers]));
  return Object.fromEntries(
    origins.map((origin) => [
      origin,
      PROTOCOLS.findLast((protocol) => offers.get(origin)?.[protocol] && isCarried(protocol)) ?? 'h1',
    ]),
  );
}

/** A server as the browser meets it on the first visit. */
export function unknownBefore(server: ServerProfile): ServerProfile {
  return server.h3Discovery === 'https-record' ? server : { ...server, h3Discovery: 'alt-svc' };
}

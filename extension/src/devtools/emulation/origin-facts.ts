import type { Protocol, Recording } from '@hopwise/contract';
import { PROTOCOLS, siteKey, timingsByOrigin } from '@hopwise/pageload-emulator';

/** What a recording shows of one origin. */
export interface OriginFacts {
  origin: string;
  /** Its registrable domain. */
  site: string;
  isThirdParty: boolean;
  requests: number;
  /** Bytes of its responses on the wire, as far as they are known. */
  bytes: number;
  /** Shortest round trip, milliseconds; null where none is shown. */
  rttMs: number | null;
  /** Requests by protocol. */
  used: Partial<Record<Protocol, number>>;
  /** Whether a response offered HTTP/3 in `Alt-Svc`; null where no header was seen. */
  offersH3: boolean | null;
  /** Null where the recorder does not name connections. */
  connections: number | null;
  addresses: string[];
}

/** Gathers the facts of each origin, those with the most bytes first. */
export function gatherOriginFacts(recording: Recording): OriginFacts[] {
  const ownSite = siteKey(recording.url);
  const facts = [...timingsByOrigin(recording).values()].map(({ origin, requests, rttMs }): OriginFacts => {
    const offers = requests.map(({ offersH3 }) => offersH3);
    const used = PROTOCOLS.flatMap((protocol) => {
      const count = requests.filter((request) => request.protocol === protocol).length;
      return count > 0 ? [[protocol, count] as const] : [];
    });
    const ids = new Set(requests.map(({ connectionId }) => connectionId).filter((id) => id !== null));
    const site = siteKey(origin);
    return {
      origin,
      site,
      isThirdParty: site !== ownSite,
      requests: requests.length,
      bytes: requests.reduce((sum, { transferBytes }) => sum + (transferBytes ?? 0), 0),
      rttMs,
      used: Object.fromEntries(used),
      offersH3: offers.includes(true) ? true : offers.includes(false) ? false : null,
      connections: ids.size > 0 ? ids.size : null,
      addresses: [...new Set(requests.map(({ remoteIp }) => remoteIp).filter((ip) => ip !== null))],
    };
  });
  return facts.sort((a, b) => b.bytes - a.bytes);
}

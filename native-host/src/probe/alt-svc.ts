/** Where a server offers HTTP/3. */
export interface H3Offer {
  /** '' for the origin's own host. */
  host: string;
  port: number;
  /** Lifetime of the offer, seconds (RFC 7838, section 3.1). */
  maxAgeS: number;
}

/** One alternative with its parameters: `h3="host:port"; ma=60`, the host may be empty (RFC 7838 section 3; RFC 9114 section 3.1.1). */
const H3_ALTERNATIVE =
  /(?:^|,)\s*h3="((?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])?):(\d{1,5})"((?:\s*;\s*[\w-]{1,32}=(?:"[^"]{0,64}"|[\w-]{1,64})){0,8})/gi;
const MAX_AGE = /;\s*ma="?(\d{1,10})/i;
const DEFAULT_MAX_AGE_S = 86_400;
/** Far more than servers offer. */
const MAX_OFFERS = 8;

/** The HTTP/3 alternatives of an `Alt-Svc` value, the most preferred first. */
export function h3Offers(altSvc: string): H3Offer[] {
  const offers: H3Offer[] = [];
  for (const [, host, digits, parameters] of altSvc.matchAll(H3_ALTERNATIVE)) {
    const port = Number(digits);
    if (port < 1 || port > 65_535) continue;
    const maxAgeS = Number(MAX_AGE.exec(parameters!)?.[1] ?? DEFAULT_MAX_AGE_S);
    offers.push({ host: host!.toLowerCase(), port, maxAgeS });
    if (offers.length === MAX_OFFERS) break;
  }
  return offers;
}

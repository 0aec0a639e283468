/** Where a server offers HTTP/3. */
export interface H3Offer {
  /** '' for the origin's own host. */
  host: string;
  port: number;
  /** Lifetime of the offer, seconds (RFC 7838, section 3.1). */
  maxAgeS: number;
}

/**
 * One alternative with its parameters: `h3="host:port"; ma=60`, the host may be empty (RFC 7838 section 3; RFC 9114 section 3.1.1). The
 * protocol is what stands before the equals sign: `h2="h3.example:443"` offers HTTP/2.
 */
const H3_ALTERNATIVE =
  /(?:^|,)\s*(h3(?:-\d{2})?)="((?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])?):(\d{1,5})"((?:\s*;\s*[\w-]{1,32}=(?:"[^"]{0,64}"|[\w-]{1,64})){0,8})/gi;
const MAX_AGE = /;\s*ma="?(\d{1,10})/i;
const DEFAULT_MAX_AGE_S = 86_400;
/** Far more than servers offer. */
const MAX_OFFERS = 8;

/**
 * The HTTP/3 alternatives of an `Alt-Svc` value, the most preferred first.
 *
 * @param drafts whether drafts of HTTP/3, such as `h3-29`, count, which browsers gave up when RFC 9114 was published
 */
export function h3Offers(altSvc: string, drafts = false): H3Offer[] {
  const offers: H3Offer[] = [];
  for (const [, protocol, host, digits, parameters] of altSvc.matchAll(H3_ALTERNATIVE)) {
    if (protocol!.toLowerCase() !== 'h3' && !drafts) continue;
    const port = Number(digits);
    if (port < 1 || port > 65_535) continue;
    const maxAgeS = Number(MAX_AGE.exec(parameters!)?.[1] ?? DEFAULT_MAX_AGE_S);
    offers.push({ host: host!.toLowerCase(), port, maxAgeS });
    if (offers.length === MAX_OFFERS) break;
  }
  return offers;
}

/**
 * Whether an `Alt-Svc` value makes a browser try HTTP/3: an offer that is stale at once (`ma=0`) does not (RFC 7838 section 3.1), nor
 * does `clear`.
 *
 * @param drafts as for `h3Offers`
 */
export function offersH3(altSvc: string, drafts = false): boolean {
  return h3Offers(altSvc, drafts).some(({ maxAgeS }) => maxAgeS > 0);
}

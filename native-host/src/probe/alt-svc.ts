/** Where a server offers HTTP/3. */
export interface H3Offer {
  /** '' for the origin's own host. */
  host: string;
  port: number;
}

/** One alternative: `h3="host:port"`, the host may be empty (RFC 7838 section 3; RFC 9114 section 3.1.1). */
const H3_ALTERNATIVE = /(?:^|,)\s*h3="((?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])?):(\d{1,5})"/i;

/** The first HTTP/3 alternative of an `Alt-Svc` value; null when it has none. */
export function h3Offer(altSvc: string): H3Offer | null {
  const found = H3_ALTERNATIVE.exec(altSvc);
  if (!found) return null;
  const port = Number(found[2]);
  return port >= 1 && port <= 65_535 ? { host: found[1]!.toLowerCase(), port } : null;
}

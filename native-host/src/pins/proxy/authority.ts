/** Where a CONNECT leads. */
export interface Authority {
  /** As `URL.hostname` has it: lower case, an IPv6 address in brackets. */
  host: string;
  port: number;
}

/** Longest name that DNS carries, in its text form with the dot at the end (RFC 1035, section 2.3.4). */
const MAX_HOST_LENGTH = 254;
const MAX_PORT = 65_535;

/**
 * Reads a request target in authority form (RFC 9112, section 3.2.3). Only what browsers send is taken: a host as
 * the URL standard writes it and a port without leading zeros; so that one origin has one text.
 *
 * @returns null for anything else.
 */
export function parseAuthority(target: string): Authority | null {
  const [, host, portText] = /^(\[[0-9a-f:.]+\]|[^[\]:/?#@\\\s%]+):([1-9]\d{0,4})$/.exec(target) ?? [];
  if (!host || host.length > MAX_HOST_LENGTH) return null;
  const port = Number(portText);
  if (port > MAX_PORT || canonical(host) !== host) return null;
  return { host, port };
}

function canonical(host: string): string {
  const url = `https://${host}`;
  return URL.canParse(url) ? new URL(url).hostname : '';
}

/** The host as `node:net` and `node:dns` take it. */
export function withoutBrackets(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

/** The target of a CONNECT. */
export interface HostPort {
  /** In the form of `URL.hostname`: lower case, an IPv6 address in brackets. */
  host: string;
  port: number;
}

/** DNS's longest name, in text form with the final dot (RFC 1035, section 2.3.4). */
const MAX_HOST_LENGTH = 254;
const MAX_PORT = 65_535;

/**
 * Parses a request target in authority form (RFC 9112, section 3.2.3). Only the form that browsers send is accepted: a host as
 * the URL standard serialises it and a port without leading zeros, so that an origin has exactly one form.
 *
 * @returns null for anything else.
 */
export function parseAuthority(target: string): HostPort | null {
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

/** The host in the form of `node:net` and `node:dns`. */
export function withoutBrackets(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

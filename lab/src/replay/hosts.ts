/**
 * A host of its own for each origin, in the reserved domain `test` (RFC 6761, section 6.2): `http` and
 * `https` of one host and port become one, other ports get their own host. Each host is a site of
 * its own.
 *
 * @returns hosts by recorded origin.
 */
export function hostNames(urls: string[]): Map<string, string> {
  const hosts = new Map<string, string>();
  const byAuthority = new Map<string, string>();
  const taken = new Set<string>();
  for (const url of urls) {
    const { origin, hostname, port, protocol } = new URL(url);
    if (hosts.has(origin)) continue;
    const standard =
      port === '' || (protocol === 'http:' && port === '443') || (protocol === 'https:' && port === '80');
    const authority = standard ? hostname : `${hostname}:${port}`;
    let host = byAuthority.get(authority);
    if (host === undefined) {
      host = freeLabel(authority, taken);
      byAuthority.set(authority, host);
    }
    hosts.set(origin, host);
  }
  return hosts;
}

/** A label has at most 63 characters (RFC 1035, section 2.3.4). */
function freeLabel(authority: string, taken: Set<string>): string {
  const stem =
    authority
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+/, '')
      .slice(0, 56)
      .replace(/-+$/, '') || 'host';
  for (let number = 1; ; number++) {
    const host = `${number === 1 ? stem : `${stem}-${number}`}.test`;
    if (taken.has(host)) continue;
    taken.add(host);
    return host;
  }
}

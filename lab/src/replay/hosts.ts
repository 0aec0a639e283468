/**
 * Names inside the lab for the recorded hosts: `img.shop.example` becomes `img.shop.example.replay2.test`, in the reserved
 * domain `test` (RFC 6761, section 6.2).
 *
 * The numbered label makes each host a site of its own: browsers separate processes, caches and connections by site, and
 * which recorded hosts share one is unknown without the list of public suffixes.
 * `http` and `https` of one host and port become one, other ports get their own host.
 *
 * @returns hosts by recorded origin.
 */
export function hostNames(urls: string[]): Map<string, string> {
  const hosts = new Map<string, string>();
  const byAuthority = new Map<string, string>();
  for (const url of urls) {
    const { origin, hostname, port, protocol } = new URL(url);
    if (hosts.has(origin)) continue;
    const standard =
      port === '' || (protocol === 'http:' && port === '443') || (protocol === 'https:' && port === '80');
    const authority = standard ? hostname : `${hostname}.${port}`;
    let host = byAuthority.get(authority);
    if (host === undefined) {
      const site = byAuthority.size === 0 ? 'replay' : `replay${byAuthority.size + 1}`;
      host = `${readableName(authority)}.${site}.test`;
      byAuthority.set(authority, host);
    }
    hosts.set(origin, host);
  }
  return hosts;
}

/** A label has at most 63 characters, a name 253 (RFC 1035, section 2.3.4); no person reads as many. */
const MAX_LABEL = 63;
const MAX_NAME = 100;

/** The host's labels, as many of the last ones as there is space for, with valid characters only. */
function readableName(authority: string): string {
  const labels = authority
    .toLowerCase()
    .split('.')
    .map((label) =>
      label
        .replace(/[^a-z0-9-]/g, '-')
        .replace(/^-+/, '')
        .slice(0, MAX_LABEL)
        .replace(/-+$/, ''),
    )
    .filter((label) => label !== '');
  let name = labels.pop() ?? 'host';
  for (let label = labels.pop(); label !== undefined; label = labels.pop()) {
    if (label.length + 1 + name.length > MAX_NAME) break;
    name = `${label}.${name}`;
  }
  return name;
}

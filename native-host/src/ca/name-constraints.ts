import { GeneralName, GeneralSubtree, GeneralSubtrees, NameConstraints } from '@peculiar/asn1-x509';

/**
 * The name constraints (RFC 5280 section 4.2.1.10) that permit these hosts and nothing else.
 *
 * A permitted dNSName includes its subdomains. A dNSName with a leading dot excludes them again; the RFC does not define
 * it, but OpenSSL, BoringSSL and Mozilla's pkix all read it as "subdomains only". The subdomains of a host cannot be
 * excluded when one of them is pinned as well.
 */
export function nameConstraints(hosts: readonly string[]): NameConstraints {
  const lone = hosts.filter((host) => !hosts.some((other) => other.endsWith(`.${host}`)));
  return new NameConstraints({
    permittedSubtrees: subtrees(hosts.map((dNSName) => new GeneralName({ dNSName }))),
    excludedSubtrees: subtrees([
      ...lone.map((host) => new GeneralName({ dNSName: `.${host}` })),
      new GeneralName({ iPAddress: '0.0.0.0/0' }),
      new GeneralName({ iPAddress: '::/0' }),
    ]),
  });
}

function subtrees(names: GeneralName[]): GeneralSubtrees {
  return new GeneralSubtrees(names.map((base) => new GeneralSubtree({ base })));
}

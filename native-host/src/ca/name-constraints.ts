import { GeneralName, GeneralSubtree, GeneralSubtrees, NameConstraints } from '@peculiar/asn1-x509';

/**
 * The name constraints (RFC 5280 section 4.2.1.10) that leave these hosts and nothing else.
 *
 * A permitted dNSName takes its subdomains along. They are excluded again by a dNSName with a leading
 * dot, of which the RFC says nothing; OpenSSL, BoringSSL and Mozilla's pkix all read it as "subdomains
 * only". A host below which another one is pinned cannot have them excluded.
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

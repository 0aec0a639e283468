/** A local certificate authority: a root whose key is discarded, and one issuer for each pinned host. */

import { randomBytes } from 'node:crypto';
import { DAY_MS } from '@hopwise/contract';
import { caCertificate, newKeyPair, type Signer, type ValidityPeriod } from './certificate.ts';

/** A forgotten authority expires. */
const LIFETIME_MS = 365 * DAY_MS;
/** How far a clock may be behind and still accept a new certificate. */
export const BACKDATE_MS = DAY_MS;

/** An issuing CA (path length 0) of one host. */
export interface Issuer {
  host: string;
  /** PEM */
  certificate: string;
  /** PEM, PKCS #8 */
  key: string;
}

export interface Authority {
  /** PEM of the root: what a browser is to trust. */
  root: string;
  issuers: Issuer[];
}

/** The name of root certificates in browsers' stores, before a random tag. */
const ROOT_NAME = 'hopwise local CA';

/**
 * Creates an authority for these hosts. The root's key signs the issuers and is discarded, so that no further issuer can
 * be signed; each issuer is constrained to its one host.
 */
export function createAuthority(hosts: readonly string[], nowMs = Date.now()): Authority {
  const period: ValidityPeriod = { notBeforeMs: nowMs - BACKDATE_MS, notAfterMs: nowMs + LIFETIME_MS };
  const root: Signer = {
    commonName: `${ROOT_NAME} ${randomBytes(4).toString('hex')}`,
    keys: newKeyPair(),
  };
  return {
    root: caCertificate(root, root, period, hosts, 1),
    issuers: hosts.map((host, index) => {
      const issuer: Signer = { commonName: `${root.commonName} issuer ${index + 1}`, keys: newKeyPair() };
      return {
        host,
        certificate: caCertificate(issuer, root, period, [host], 0),
        key: issuer.keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      };
    }),
  };
}

import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { DAY_MS } from '@hopwise/contract';
import type { Issuer } from '../../src/ca/authority.ts';
import { commonName, leafCertificate, newKeyPair } from '../../src/ca/certificate.ts';

/** What a thief of an issuer's key can make: a certificate of any host. */
export function forgedLeaf(issuer: Issuer, host: string): { key: string; leaf: string; cert: string } {
  const keys = newKeyPair();
  const privateKey = createPrivateKey(issuer.key);
  const signer = {
    commonName: commonName(new X509Certificate(issuer.certificate)),
    keys: { privateKey, publicKey: createPublicKey(privateKey) },
  };
  const period = { notBeforeMs: Date.now() - DAY_MS, notAfterMs: Date.now() + DAY_MS };
  const leaf = leafCertificate(host, keys.publicKey, signer, period);
  return {
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    leaf,
    cert: leaf + issuer.certificate,
  };
}

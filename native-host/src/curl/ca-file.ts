import { existsSync } from 'node:fs';

/** Paths of the CA bundle on Debian, Fedora, openSUSE, Alpine and macOS. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * The CA bundle for verifying servers: `HOPWISE_CA_FILE` for test labs, else the system's, else ''
 * for the one compiled into libcurl.
 *
 * @throws Error when `HOPWISE_CA_FILE` names no file.
 */
export function caFile(): string {
  const given = process.env.HOPWISE_CA_FILE;
  if (given) {
    if (!existsSync(given)) throw new Error(`HOPWISE_CA_FILE: no such file: ${given}`);
    return given;
  }
  return BUNDLES.find((path) => existsSync(path)) ?? '';
}

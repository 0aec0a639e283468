import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Serial number of every certificate, one of each CA. */
const SERIAL = '01';
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
/** The end of the certificate's time in OpenSSL's list of certificates, later than any that is issued here. */
const EXPIRY = '401201000000Z';
const REVOKED_AT = '200101000000Z';

/** A certificate for `localhost`, and what a responder says of it (RFC 6960), made by the `openssl` command. */
export interface StapledCertificate {
  caFile: string;
  key: Buffer;
  cert: Buffer;
  status: Record<'good' | 'revoked', Buffer>;
}

/** @param mustStaple whether it requires a stapled status (RFC 7633). */
export function makeStapledCertificate(folder: string, mustStaple: boolean): StapledCertificate {
  mkdirSync(folder);
  const openssl = (...words: string[]): void => {
    execFileSync('openssl', words, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const feature = mustStaple ? 'tlsfeature=status_request\n' : '';
  writeFileSync(
    join(folder, 'leaf.cnf'),
    `subjectAltName=DNS:localhost\nbasicConstraints=CA:false\n${feature}`,
  );
  const ca = ['-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=hopwise test CA', '-days', '30'];
  openssl('req', '-x509', ...KEY, ...ca, '-addext', 'keyUsage=critical,keyCertSign,digitalSignature');
  openssl('req', '-new', ...KEY, '-keyout', 'leaf.key', '-out', 'leaf.csr', '-subj', '/CN=localhost');
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-set_serial', SERIAL, '-days', '20'];
  openssl('x509', '-req', '-in', 'leaf.csr', ...signing, '-extfile', 'leaf.cnf', '-out', 'leaf.pem');
  const respond = (name: string, line: string[]): Buffer => {
    writeFileSync(
      join(folder, `${name}.index`),
      `${[...line, SERIAL, 'unknown', '/CN=localhost'].join('\t')}\n`,
    );
    const signer = ['-CA', 'ca.pem', '-rsigner', 'ca.pem', '-rkey', 'ca.key', '-issuer', 'ca.pem'];
    const output = ['-cert', 'leaf.pem', '-ndays', '5', '-respout', `${name}.der`];
    openssl('ocsp', '-index', `${name}.index`, ...signer, ...output);
    return readFileSync(join(folder, `${name}.der`));
  };
  return {
    caFile: join(folder, 'ca.pem'),
    key: readFileSync(join(folder, 'leaf.key')),
    cert: readFileSync(join(folder, 'leaf.pem')),
    status: {
      good: respond('good', ['V', EXPIRY, '']),
      revoked: respond('revoked', ['R', EXPIRY, REVOKED_AT]),
    },
  };
}

import type { X509Certificate } from 'node:crypto';

/** The subject's common name; '' when it has none. */
export function commonName(certificate: X509Certificate): string {
  return /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? '';
}

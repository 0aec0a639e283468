import { createHash, timingSafeEqual } from 'node:crypto';

/** 128 bits in base64. */
export const MIN_SECRET_LENGTH = 22;

/**
 * Checks the `Proxy-Authorization` fields of a request for the secret, which is the password of the Basic scheme (RFC 7617).
 * The user name is ignored.
 */
export class ProxyAuthorization {
  readonly #expected: Buffer;

  constructor(secret: string) {
    if (secret.length < MIN_SECRET_LENGTH) {
      throw new RangeError(
        `the proxy's secret has ${secret.length} characters of at least ${MIN_SECRET_LENGTH}`,
      );
    }
    this.#expected = digest(secret);
  }

  accepts(fields: readonly string[] | undefined): boolean {
    if (fields?.length !== 1) return false;
    const [, token] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(fields[0]!) ?? [];
    if (token === undefined) return false;
    const credentials = Buffer.from(token, 'base64').toString('utf8');
    const colon = credentials.indexOf(':');
    return colon >= 0 && timingSafeEqual(digest(credentials.slice(colon + 1)), this.#expected);
  }
}

/** Digests have a fixed length, and their comparison does not reveal how much of the secret was right. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

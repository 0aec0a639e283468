/** Parsing of URLs without the platform's `URL`, which is not part of the language's own library. */

const HTTP_URL = /^(https?):\/\/([^/?#]*)/i;
/** The origin of most URLs: in lower case already, with neither credentials nor a port. */
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.-]+(?=[/?#]|$)/;

/**
 * Returns the origin, `https://host[:port]`, of an absolute http or https URL: in lower case, without credentials or the
 * scheme's default port (RFC 6454 section 4); null for any other text.
 */
export function originOf(url: string): string | null {
  const plain = PLAIN_ORIGIN.exec(url);
  if (plain !== null) return plain[0];
  const match = HTTP_URL.exec(url);
  if (match === null) return null;
  const scheme = match[1]!.toLowerCase();
  const host = match[2]!.slice(match[2]!.lastIndexOf('@') + 1).toLowerCase();
  if (host === '') return null;
  return `${scheme}://${host.replace(scheme === 'https' ? /:(443)?$/ : /:(80)?$/, '')}`;
}

/** The host of an absolute http or https URL, without its port; null for any other text. */
export function hostOf(url: string): string | null {
  return (
    originOf(url)
      ?.replace(/^https?:\/\//, '')
      .replace(/:\d+$/, '') ?? null
  );
}

/** Resolves a `Location` against the URL that it was sent for (RFC 3986 section 5.2, dots in paths left as they are). */
export function resolveReference(reference: string, base: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(reference)) return reference;
  const match = HTTP_URL.exec(base);
  if (match === null) return reference;
  if (reference.startsWith('//')) return `${match[1]}:${reference}`;
  if (reference.startsWith('/')) return match[0] + reference;
  const path = base.slice(match[0].length).split(/[?#]/, 1)[0]!;
  return match[0] + (path === '' ? '/' : path.slice(0, path.lastIndexOf('/') + 1)) + reference;
}

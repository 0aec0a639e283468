/** A header field, its name in the case that was received. */
export type HeaderField = readonly [name: string, value: string];

/** Fields of one connection (RFC 9110 section 7.6.1; `HTTP2-Settings`: RFC 7540 section 3.2.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** The fields to forward: without hop-by-hop fields and those that a `Connection` field names. */
export function endToEnd(fields: readonly HeaderField[]): HeaderField[] {
  const named = valuesOf(fields, 'connection').flatMap((value) =>
    value.split(',').map((option) => option.trim().toLowerCase()),
  );
  return fields.filter(([name]) => {
    const lower = name.toLowerCase();
    return !HOP_BY_HOP.has(lower) && !named.includes(lower);
  });
}

/** The values of the fields of a name given in lower case. */
export function valuesOf(fields: readonly HeaderField[], wanted: string): string[] {
  return fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
}

/**
 * The fields of a response to forward. A length beside a transfer coding is not the body's (RFC 9112 section 6.3).
 *
 * @throws Error for differing lengths (RFC 9110 section 8.6).
 */
export function responseFields(fields: readonly HeaderField[]): HeaderField[] {
  const lengths = valuesOf(fields, 'content-length').flatMap((value) =>
    value.split(',').map((length) => length.trim()),
  );
  if (lengths.some((length) => length !== lengths[0])) throw new Error('a response with two lengths');
  const passed = endToEnd(fields);
  if (valuesOf(fields, 'transfer-encoding').length === 0) return passed;
  return passed.filter(([name]) => name.toLowerCase() !== 'content-length');
}

/** A token (RFC 9110 section 5.6.2), as method and field names are. */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
}

/** Whether a value is valid in a field line: Latin-1 without CR, LF and NUL (RFC 9110 section 5.5). */
export function isFieldValue(text: string): boolean {
  return /^[^\0\r\n\u0100-\uffff]*$/.test(text);
}

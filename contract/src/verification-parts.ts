/** A `Verification` may exceed the longest message to a browser, and is sent as slices of its JSON text. */

/** Maximum bytes of one `probe-result` message, well below the browser's 1 MiB. */
const MAX_PART_BYTES = 900 * 1024;

/** Space for the message around the slice. */
const ENVELOPE_BYTES = 256;

/** One slice, as in the `probe-result` message. */
export interface VerificationPart {
  type: 'probe-result';
  id: string;
  part: number;
  parts: number;
  json: string;
}

/** The messages that carry `verification`, each at most 900 KiB as UTF-8 JSON. */
export function encodeVerification(id: string, verification: unknown): VerificationPart[] {
  const slices = slice(JSON.stringify(verification), MAX_PART_BYTES - ENVELOPE_BYTES);
  return slices.map((json, part) => ({ type: 'probe-result', id, part, parts: slices.length, json }));
}

/**
 * Joins the parts of one verification to its JSON text.
 *
 * @returns null while parts are missing.
 */
export function joinVerification(parts: readonly VerificationPart[]): string | null {
  const [first] = parts;
  if (!first) return null;
  const slices = new Map(parts.map(({ part, json }) => [part, json]));
  let text = '';
  for (let part = 0; part < first.parts; part += 1) {
    const json = slices.get(part);
    if (json === undefined) return null;
    text += json;
  }
  return text;
}

/** Cuts `text` into slices of at most `maxBytes` each once they are JSON strings in UTF-8. */
function slice(text: string, maxBytes: number): string[] {
  const slices: string[] = [];
  let begin = 0;
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const codePoint = text.codePointAt(at)!;
    const size = quotedBytes(codePoint);
    if (bytes + size > maxBytes) {
      slices.push(text.slice(begin, at));
      begin = at;
      bytes = 0;
    }
    bytes += size;
    at += codePoint > 0xffff ? 2 : 1;
  }
  slices.push(text.slice(begin));
  return slices;
}

/** UTF-8 bytes of a code point inside a JSON string (RFC 8259 section 7, as `JSON.stringify` writes it). */
function quotedBytes(codePoint: number): number {
  if (codePoint === 0x22 || codePoint === 0x5c) return 2;
  if (codePoint < 0x20) return 6;
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  // A lone surrogate is written as an escape.
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return 6;
  return codePoint > 0xffff ? 4 : 3;
}

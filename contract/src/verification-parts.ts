/** A `Verification` may exceed the longest message to a browser, and is sent as slices of its JSON text. */

/** Characters of a slice. JSON in a JSON string takes up to 3 bytes of UTF-8 for each: the browser's limit is 1 MiB. */
const MAX_SLICE_LENGTH = 300_000;

/** One slice, as in the `probe-result` message. */
interface VerificationPart {
  type: 'probe-result';
  id: string;
  part: number;
  parts: number;
  json: string;
}

/** The messages that carry `verification`, each less than 900 kB as UTF-8 JSON. */
export function encodeVerification(id: string, verification: unknown): VerificationPart[] {
  const text = JSON.stringify(verification);
  const slices: string[] = [];
  for (let begin = 0, end = 0; begin < text.length; begin = end) {
    end = begin + MAX_SLICE_LENGTH;
    // Not between the halves of a surrogate pair, which is no text alone.
    if (text.codePointAt(end - 1)! > 0xffff) end -= 1;
    slices.push(text.slice(begin, end));
  }
  return slices.map((json, part) => ({ type: 'probe-result', id, part, parts: slices.length, json }));
}

import { InputError } from '../../util/input-error.ts';
import { BACKSLASH, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './json-characters.ts';

/**
 * Limits of what is kept of a recording's JSON. Parsing takes up to ten times the text in memory, and more for small values; within these
 * limits it stays below 256 MB. Of what DevTools writes for a request some 1,800 bytes are kept, 80 values in 25 objects and arrays, and
 * one more for each script of its stack, so that some 8,000 requests fit.
 */
export const MAX_KEPT = { bytes: 20 * 1024 * 1024, values: 1_000_000, containers: 250_000 };
/** Bytes of a file, bodies included. */
export const MAX_READ_BYTES = 256 * 1024 * 1024;

/**
 * Refuses a text that would take more memory than a recording may.
 *
 * @throws InputError naming the limit
 */
export function refuseLargeJson(text: string): void {
  if (text.length > MAX_KEPT.bytes) throw tooLarge(`${MAX_KEPT.bytes / 1024 / 1024} MiB of JSON`);
  let values = 0;
  let containers = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) inString = !inString;
    else if (inString) at += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA) values++;
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) containers++;
  }
  refuseMoreValues(values, containers);
}

/** @throws InputError when there are more values, or objects and arrays, than a recording may have */
export function refuseMoreValues(values: number, containers: number): void {
  if (values <= MAX_KEPT.values && containers <= MAX_KEPT.containers) return;
  throw tooLarge(`${MAX_KEPT.values} values in ${MAX_KEPT.containers} objects and arrays`);
}

/** Makes the error of a text that is more than `limit`. */
export function tooLarge(limit: string): InputError {
  return new InputError(`top level: expected at most ${limit}, got more`);
}

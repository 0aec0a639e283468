import { removeUserinfo, type Verification, verificationSchema } from '@hopwise/contract';
import { InputError, inputErrorFrom, placeOf, shown } from '../util/input-error.ts';
import { objectOf } from './har/values.ts';

const EXPECTED =
  'a verification: the JSON of `hopwise-host probe --json`, or an export of the extension with one';

/**
 * Reads a verification: what `hopwise-host probe --json` prints, or the extension's export of a verified load.
 *
 * @throws InputError naming the place and what was expected there
 */
export function parseVerification(text: string): Verification {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new InputError(`top level: expected ${EXPECTED}, got no JSON`);
  }
  if (!isLoadExport(content)) return readVerification(content);
  const verification = objectOf(content)?.verification ?? null;
  if (verification === null) {
    throw new InputError('verification: expected one, got nothing: this load was not verified');
  }
  return readVerification(verification, ['verification']);
}

/** Whether the input claims to be what "Export JSON" of the extension saves, valid or not. */
export function isLoadExport(input: unknown): boolean {
  return objectOf(input)?.format === 'hopwise-load';
}

/**
 * @param place where `value` is in the file
 * @throws InputError naming the place and what was expected there
 */
export function readVerification(value: unknown, place: readonly string[] = []): Verification {
  const object = objectOf(value);
  if (object === null || !('origins' in object && 'udp' in object)) {
    throw new InputError(`${placeOf(place)}: expected ${EXPECTED}, got ${shown(value)}`);
  }
  const parsed = verificationSchema.safeParse(value);
  if (parsed.success) return { ...parsed.data, pageUrl: removeUserinfo(parsed.data.pageUrl) };
  throw inputErrorFrom(parsed.error.issues, value, place);
}

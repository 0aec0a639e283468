import { type Verification, verificationSchema } from '@hopwise/contract';
import { InputError, inputErrorFrom } from '../util/input-error.ts';

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
  const exported = isObject(content) && content.format === 'hopwise-load' ? content : null;
  const value = exported ? exported.verification : content;
  if (exported && (value === null || value === undefined)) {
    throw new InputError('verification: expected one, got nothing: this load was not verified');
  }
  if (!isObject(value) || !('origins' in value && 'udp' in value)) {
    throw new InputError(`top level: expected ${EXPECTED}`);
  }
  const parsed = verificationSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw inputErrorFrom(parsed.error.issues, value, exported ? ['verification'] : []);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

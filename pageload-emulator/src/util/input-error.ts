import { removeUserinfoInText } from '@hopwise/contract';
import type * as z from 'zod/mini';

/** Input that cannot be used. The message is one line that names the place, what was expected there and what was found. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/**
 * Turns the first issue of a schema into one line: `log.entries[12].timings.wait: expected a number, got "x"`.
 * The schemas' error messages are what they expect.
 *
 * @param input what the schema was applied to
 * @param place where `input` is in the file
 */
export function inputErrorFrom(
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  place: readonly PropertyKey[] = [],
): InputError {
  const issue = issues[0]!;
  let value = input;
  for (const key of issue.path) {
    value =
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined;
  }
  const at = placeOf([...place, ...issue.path]);
  return new InputError(`${at}: expected ${expectation(issue)}, got ${shown(value)}`);
}

function expectation(issue: z.core.$ZodIssue): string {
  // zod's default message begins like this when a schema has none of its own.
  return issue.message.replace(/^Invalid input(: expected )?/, '') || 'something else';
}

/** Characters of a place in a message: a file may nest as deep as it is long. */
const MAX_PLACE_LENGTH = 200;

/** Writes a path as `log.entries[12].time`, cut short when it is long. */
export function placeOf(path: readonly PropertyKey[]): string {
  let place = '';
  for (const key of path) {
    if (typeof key === 'number') place += `[${key}]`;
    else place += place === '' ? String(key) : `.${String(key)}`;
  }
  if (place.length > MAX_PLACE_LENGTH) return `${place.slice(0, MAX_PLACE_LENGTH)}…`;
  return place === '' ? 'top level' : place;
}

/** Writes a value as JSON, short enough for one line and without the passwords of URLs. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  // JSON has no word for NaN and the infinities.
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = removeUserinfoInText(JSON.stringify(value) ?? String(value));
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

import { jsonFault } from '@hopwise/contract';
import type * as z from 'zod/mini';
import { InputError, inputErrorFrom, placeOf } from './input-error.ts';

/**
 * Reads JSON of a schema.
 *
 * @param what the text should be, for the message: `a budget`
 * @throws InputError naming the place and what was expected there
 */
export function parseJson<T>(text: string, schema: z.ZodMiniType<T>, what: string): T {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new InputError(`top level: expected ${what} as JSON, got ${jsonFault(text, error)}`);
  }
  return checkShape(content, schema);
}

/**
 * Checks a value by a schema.
 *
 * @throws InputError naming the place and what was expected there
 */
export function checkShape<T>(value: unknown, schema: z.ZodMiniType<T>): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const [issue] = issues;
  if (issue?.code === 'unrecognized_keys') {
    const place = placeOf([...issue.path, issue.keys[0]!]);
    throw new InputError(`${place}: expected no entry of this name (${issue.message})`);
  }
  throw inputErrorFrom(issues, value);
}

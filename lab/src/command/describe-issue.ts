import type * as z from 'zod';

/** Values in messages are cut to this length, characters. */
const MAX_SHOWN = 60;

/**
 * What is wrong with a value, in the words of all other errors: `network.loss: expected at most 0.9, got 2`.
 *
 * @param issues of a schema, the first of which is described
 * @param value what the schema was applied to
 * @param place where the value is; at the top level unless given
 */
export function describeIssue(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  place: readonly string[] = [],
): string {
  const [issue] = issues;
  if (issue === undefined) return 'expected another value';
  const path = [...place, ...issue.path.map(String)];
  if (issue.code === 'unrecognized_keys')
    return `${[...path, issue.keys[0]].join('.')}: expected no entry of this name`;
  return `${path.join('.') || 'top level'}: expected ${expectation(issue)}, got ${show(valueAt(value, issue.path))}`;
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
    case 'invalid_value':
      return `one of ${issue.values.join(', ')}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    case 'too_small':
      return `${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    default:
      return `another value (${issue.message})`;
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce(
    (at, key) =>
      typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  );
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}

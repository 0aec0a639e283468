/** No time in milliseconds and no size in bytes of a page load exceeds this. */
export const LARGEST_NUMBER = 1e10;

/** Recorders round times to a millisecond. */
export const ROUNDING_MS = 1;

/** The value if it is an object and no array; else null. */
export function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** What programs write for a number that they do not have. */
const NO_NUMBER = /^[-+]?(|nan|inf(inity)?|null|none|undefined)$/i;

/** Whether a recorder may write a value where a number belongs. */
export function isNumber(value: unknown): boolean {
  if (value === null || typeof value === 'number') return true;
  return typeof value === 'string' && (NO_NUMBER.test(value.trim()) || Number.isFinite(Number(value)));
}

/**
 * The number that a recorder wrote as a number or a string; null when absent, and where it means nothing: a negative size counted
 * without its sign, or a time since 1970 in place of a length.
 */
export function numberOf(value: number | string | null | undefined): number | null {
  if (value === null || value === undefined || (typeof value === 'string' && value.trim() === ''))
    return null;
  const number = Number(value);
  return Math.abs(number) <= LARGEST_NUMBER ? number : null;
}

/** The length of a phase, milliseconds; 0 when it did not take place. */
export function lengthOf(value: number | string | null | undefined): number {
  return Math.max(0, numberOf(value) ?? 0);
}

/** A date and time as Unix time in milliseconds; NaN when there is none. */
export function dateOf(text: string | null | undefined): number {
  return text == null ? Number.NaN : Date.parse(text);
}

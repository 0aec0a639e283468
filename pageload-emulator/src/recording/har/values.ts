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

/** The number that a recorder wrote as a number or a string; null when absent. */
export function numberOf(value: number | string | null | undefined): number | null {
  if (value === null || value === undefined || value === '') return null;
  return Number(value);
}

/** The length of a phase, milliseconds; 0 when it did not take place. */
export function lengthOf(value: number | string | null | undefined): number {
  return Math.max(0, numberOf(value) ?? 0);
}

/** A date and time as Unix time in milliseconds; NaN when there is none. */
export function dateOf(text: string | null | undefined): number {
  return text == null ? Number.NaN : Date.parse(text);
}

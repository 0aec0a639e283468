import { type Language, LOCALE } from '@hopwise/contract';

/** Milliseconds as text, seconds from ten seconds on: `840 ms`, `12.3 s`. */
export function ms(value: number): string {
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${Math.round(value)} ms`;
}

/** A share of 0 to 1 as whole percent: `7%`. */
export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** A count rounded to a whole number. Counts are means over scenarios: anything above 0 shows as at least 1. */
export function round(value: number): string {
  return String(value > 0 ? Math.max(1, Math.round(value)) : 0);
}

/** A count with its noun: `1 packet`, `3 packets`. */
export function count(value: number, noun: string): string {
  const number = round(value);
  return `${number} ${noun}${number === '1' ? '' : 's'}`;
}

/** An origin without its scheme: `a.example:8443`. */
export function withoutScheme(origin: string): string {
  return origin.replace(/^https?:\/\//, '');
}

/** A duration in two significant digits: `840 ms`, `4.3 s`, `12 s`. */
export function duration(valueMs: number): string {
  return durations(valueMs)[0]!;
}

/** Durations that are compared with each other, all in the unit of the longest. */
export function durations(...valuesMs: number[]): string[] {
  return durationsIn('en', valuesMs);
}

/** As `durations`, with the decimal separator of a language. */
export function durationsIn(language: Language, valuesMs: readonly number[]): string[] {
  const longest = Math.max(...valuesMs.map(Math.abs));
  if (longest < 995) return valuesMs.map((valueMs) => `${Math.round(valueMs / 10) * 10} ms`);
  return valuesMs.map(
    (valueMs) => `${toFixed(language, valueMs / 1000, Math.abs(valueMs) < 9_950 ? 1 : 0)} s`,
  );
}

function toFixed(language: Language, value: number, digits: number): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false };
  return new Intl.NumberFormat(LOCALE[language], options).format(Number(value.toFixed(digits)));
}

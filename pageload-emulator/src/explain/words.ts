import { type Language, LOCALE } from '@hopwise/contract';

/** Writes numbers and durations as a language does. */
export interface Words {
  /** Whole milliseconds, from a second on as `duration`, which the times beside are written by: `842 ms`, `4.3 s`. */
  ms(value: number): string;
  /** A share of 0 to 1 as whole percent: `7%`. */
  percent(share: number): string;
  /** A duration in two significant digits: `840 ms`, `4.3 s`, `12 s`. */
  duration(valueMs: number): string;
  /** Durations that are compared with each other, all in the unit of the longest. */
  durations(...valuesMs: number[]): string[];
  /** With a fixed number of decimals. */
  decimal(value: number, digits: number): string;
  /** Names as a list: `HTTP/1.1, HTTP/2 and HTTP/3`. */
  list(names: readonly string[]): string;
}

/** What rounds to a second in two digits is written in seconds. */
const SECONDS_FROM_MS = 995;

export function wordsIn(language: Language): Words {
  const listFormat = new Intl.ListFormat(LOCALE[language], { type: 'conjunction' });
  const percentSign = language === 'de' ? '\u00a0%' : '%';
  return {
    ms: (value) => (value < SECONDS_FROM_MS ? `${Math.round(value)} ms` : durationsIn(language, [value])[0]!),
    percent: (share) => `${Math.round(share * 100)}${percentSign}`,
    duration: (valueMs) => durationsIn(language, [valueMs])[0]!,
    durations: (...valuesMs) => durationsIn(language, valuesMs),
    decimal: (value, digits) => toFixed(language, value, digits),
    list: (names) => listFormat.format(names),
  };
}

/** In English, for what has one language only. */
export const { percent, duration, durations } = wordsIn('en');

/** A count rounded to a whole number. Counts are means over scenarios: anything above 0 shows as at least 1. */
export function round(value: number): string {
  return String(value > 0 ? Math.max(1, Math.round(value)) : 0);
}

/** A count with its noun: `1 packet`, `3 packets`. */
export function count(value: number, singular: string, plural = `${singular}s`): string {
  const number = round(value);
  return `${number} ${number === '1' ? singular : plural}`;
}

/** An origin without its scheme: `a.example:8443`. */
export function withoutScheme(origin: string): string {
  return origin.replace(/^https?:\/\//, '');
}

/** Shorter durations would be written as 0.0 s. */
const TENTH_ROUNDS_UP_MS = 50;

/**
 * Durations in two significant digits, all in the unit of the longest, with the decimal separator of a language. Those that would be
 * `0.0 s` are in milliseconds.
 */
export function durationsIn(language: Language, valuesMs: readonly number[]): string[] {
  const isShort = Math.max(...valuesMs.map(Math.abs)) < SECONDS_FROM_MS;
  return valuesMs.map((valueMs) => {
    const lengthMs = Math.abs(valueMs);
    if (isShort || (lengthMs > 0 && lengthMs < TENTH_ROUNDS_UP_MS)) {
      return `${lengthMs < 9.5 ? Math.round(valueMs) : Math.round(valueMs / 10) * 10} ms`;
    }
    return `${toFixed(language, valueMs / 1000, lengthMs < 9_950 ? 1 : 0)} s`;
  });
}

/** Less loss per packet changes no load, and is none of a network's own. */
const MIN_LOSS = 0.000_099;
const NO_LOSS: Record<Language, string> = { en: 'none', de: 'keiner' };

/** Loss per packet in two significant digits: `0.3%`, `none`. */
export function lossIn(language: Language, loss: number): string {
  if (loss < MIN_LOSS) return NO_LOSS[language];
  const options: Intl.NumberFormatOptions = { style: 'percent', maximumSignificantDigits: 2 };
  return new Intl.NumberFormat(LOCALE[language], options).format(loss);
}

function toFixed(language: Language, value: number, digits: number): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false };
  return new Intl.NumberFormat(LOCALE[language], options).format(Number(value.toFixed(digits)));
}

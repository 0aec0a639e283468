import { currentLocale } from './translate.ts';

/** Creating a format takes longer than using it. */
const formats = new Map<string, Intl.NumberFormat>();

/** A number as the language of the user interface writes it, rounded to a whole one unless the options differ, without grouping. */
export function formatNumber(value: number, options: Intl.NumberFormatOptions = {}): string {
  const key = `${currentLocale()} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (!format) {
    const whole = { maximumFractionDigits: 0, useGrouping: false, signDisplay: 'negative' } as const;
    format = new Intl.NumberFormat(currentLocale(), { ...whole, ...options });
    formats.set(key, format);
  }
  return format.format(value);
}

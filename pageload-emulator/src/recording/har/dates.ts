import type { Entry, Har } from './schema.ts';

/** A date and time with a fraction of a second of one to three digits. */
const FRACTION = /^(.*\d:\d\d\.)(\d{1,3})(?!\d)(.*)$/s;

/**
 * Pads the fractions of seconds in a file's times where its recorder does not: Internet Explorer writes `11.59` for 11 seconds and 59
 * milliseconds. Recorders that leave out zeros at the end write no fraction of three digits that ends in one.
 */
export function withPaddedFractions(log: Har): Har {
  const texts = [...(log.pages ?? []), ...log.entries].map(({ startedDateTime }) => startedDateTime ?? '');
  const fractions = texts.flatMap((text) => FRACTION.exec(text)?.[2] ?? []);
  const areShort = fractions.some((digits) => digits.length < 3);
  if (!areShort || !fractions.some((digits) => /^\d\d0$/.test(digits))) return log;
  const padded = <T extends Pick<Entry, 'startedDateTime'>>(dated: T): T => ({
    ...dated,
    startedDateTime: dated.startedDateTime.replace(FRACTION, (_, before, digits, after) => {
      return `${before}${digits.padStart(3, '0')}${after}`;
    }),
  });
  return {
    ...log,
    pages: log.pages?.map((page) =>
      page.startedDateTime == null ? page : padded({ ...page, startedDateTime: page.startedDateTime }),
    ),
    entries: log.entries.map(padded),
  };
}

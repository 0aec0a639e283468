/** Languages of the texts that a person reads, as BCP 47 tags. */
export const LANGUAGES = ['en', 'de'] as const;

export type Language = (typeof LANGUAGES)[number];

/** For `Intl`: the spelling of numbers, dates and lists. */
export const LOCALE: Record<Language, string> = { en: 'en-GB', de: 'de-DE' };

import { LANGUAGES, type Language } from '@hopwise/contract';

/** Names of the languages in themselves. */
export const LANGUAGE_NAME: Record<Language, string> = { en: 'English', de: 'Deutsch' };

export const isLanguage = (value: unknown): value is Language => LANGUAGES.includes(value as Language);

/** The language of a BCP 47 tag such as `de-AT`, regardless of its region; English for others. */
export function matchLanguage(tag: string): Language {
  const language = tag.toLowerCase().split('-')[0];
  return isLanguage(language) ? language : 'en';
}

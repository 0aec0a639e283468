import type { Language } from '@hopwise/contract';
import { isLanguage, matchLanguage } from './languages.ts';
import { type Messages, useLanguage } from './translate.ts';

const KEY = 'language';

/** The language that the user chose; null for the browser's. */
export async function readLanguageChoice(): Promise<Language | null> {
  const choice = (await chrome.storage.local.get(KEY))[KEY];
  return isLanguage(choice) ? choice : null;
}

export async function saveLanguageChoice(choice: Language | null): Promise<void> {
  if (choice === null) await chrome.storage.local.remove(KEY);
  else await chrome.storage.local.set({ [KEY]: choice });
}

/**
 * Loads the messages of the chosen language, else of the browser's, in which it shows the manifest's.
 * `chrome.i18n.getMessage` reads messages of the browser's language only.
 *
 * @param fixed for a page that has one language only
 */
export async function loadLanguage(fixed?: Language): Promise<Language> {
  const language = fixed ?? (await readLanguageChoice()) ?? matchLanguage(chrome.i18n.getUILanguage());
  const file = await fetch(chrome.runtime.getURL(`_locales/${language}/messages.json`));
  useLanguage(language, (await file.json()) as Messages);
  return language;
}

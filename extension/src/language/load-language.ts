import type { Language } from '@hopwise/contract';
import { findLanguage } from './find-language.ts';
import { type Messages, useLanguage } from './translate.ts';

/**
 * Loads the messages of the user interface's language. `chrome.i18n.getMessage` reads messages of the browser's language
 * only.
 */
export async function loadLanguage(): Promise<Language> {
  const language = await findLanguage();
  const file = await fetch(chrome.runtime.getURL(`messages/${language}.json`));
  useLanguage(language, (await file.json()) as Messages);
  return language;
}

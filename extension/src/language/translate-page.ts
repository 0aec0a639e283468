import { loadLanguage } from './load-language.ts';
import { type PlainKey, t } from './translate.ts';

/** Loads the messages for a page of the extension, and gives it its language and title. */
export async function translatePage(title: PlainKey): Promise<void> {
  document.documentElement.lang = await loadLanguage();
  document.title = t(title);
}

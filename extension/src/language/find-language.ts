import type { Language } from '@hopwise/contract';
import { ownStorage } from '../storage/own-storage.ts';
import { isLanguage, matchLanguage } from './languages.ts';

const KEY = 'language';

/** The language that the user chose; null for the browser's. */
export async function readLanguageChoice(): Promise<Language | null> {
  const choice = (await ownStorage.get(KEY))[KEY];
  return isLanguage(choice) ? choice : null;
}

export async function saveLanguageChoice(choice: Language | null): Promise<void> {
  if (choice === null) await ownStorage.remove(KEY);
  else await ownStorage.set({ [KEY]: choice });
}

/** The language of the user interface: the chosen one, else the browser's, in which it shows the manifest's messages. */
export async function findLanguage(): Promise<Language> {
  return (await readLanguageChoice()) ?? matchLanguage(chrome.i18n.getUILanguage());
}

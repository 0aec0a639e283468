import { LANGUAGES } from '@hopwise/contract';
import { readLanguageChoice, saveLanguageChoice } from '../language/find-language.ts';
import { isLanguage, LANGUAGE_NAME } from '../language/languages.ts';
import { t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';

/**
 * Lets the user choose the language of the options and the first steps.
 *
 * @param onChosen called once the choice is stored
 */
export async function renderLanguageChoice(onChosen: () => void): Promise<HTMLElement> {
  const el = builder();
  const select = el(
    'select',
    { class: 'hw-select' },
    el('option', { value: '' }, t('languageOfBrowser')),
    ...LANGUAGES.map((language) =>
      el('option', { value: language, lang: language }, LANGUAGE_NAME[language]),
    ),
  );
  select.value = (await readLanguageChoice()) ?? '';
  select.addEventListener('change', async () => {
    await saveLanguageChoice(isLanguage(select.value) ? select.value : null);
    onChosen();
  });
  return renderCard(
    t('languageTitle'),
    el('label', { class: 'hw-row' }, t('languageLabel'), select),
    el('p', { class: 'hw-note' }, t('languageNote')),
  );
}

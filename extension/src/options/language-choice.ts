import { LANGUAGES } from '@hopwise/contract';
import { readLanguageChoice, saveLanguageChoice } from '../language/find-language.ts';
import { isLanguage, LANGUAGE_NAME } from '../language/languages.ts';
import { t } from '../language/translate.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderSelect } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';

/**
 * Lets the user choose the language of the options and the first steps.
 *
 * @param onChosen called once the choice is stored
 */
export async function renderLanguageChoice(onChosen: () => void): Promise<HTMLElement> {
  const el = builder();
  const names = LANGUAGES.map((language) => [language, LANGUAGE_NAME[language]] as const);
  const select = renderSelect([['', t('languageOfBrowser')], ...names], {
    'aria-label': t('languageTitle'),
    value: (await readLanguageChoice()) ?? '',
    onChange: async (chosen) => {
      await saveLanguageChoice(isLanguage(chosen) ? chosen : null);
      onChosen();
    },
  });
  for (const option of select.options) if (option.value !== '') option.lang = option.value;
  return renderCardOfGroup(
    t('languageTitle'),
    el('div', { class: 'hw-row' }, select),
    renderExplanation(t('languageTitle'), t('languageNote')),
  );
}

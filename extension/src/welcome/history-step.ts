import { t } from '../language/translate.ts';
import { HISTORY } from '../storage/history-permission.ts';
import { renderCard } from '../ui/card.ts';
import { renderButton } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { renderState } from './step-state.ts';

/** The step that asks to hear of pages which are removed from the browser's history, so that they are erased here too. */
export async function renderHistoryStep(): Promise<HTMLElement> {
  const el = builder();
  const state = renderState();
  // Without an await before it: browsers accept the request only directly in a click handler.
  const allow = () => chrome.permissions.request(HISTORY).then(update);
  const button = renderButton(t('historyAllow'), allow, { class: 'hw-button hw-button-primary' });
  const choices = el('div', { class: 'hw-row' }, button);

  const update = async () => {
    const isAllowed = await chrome.permissions.contains(HISTORY);
    choices.hidden = isAllowed;
    state.show(isAllowed ? t('historyForgets') : t('historyKeeps'), isAllowed);
  };
  await update();
  return renderCard(t('historyTitle'), el('p', {}, t('historyReason')), state.element, choices);
}

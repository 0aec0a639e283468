import { t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import { renderCheckbox, renderStatus } from './controls.ts';

const HISTORY: chrome.permissions.Permissions = { permissions: ['history'] };

/** The switch that makes hopwise forget pages which the user removes from the history. The permission is its state. */
export async function renderBrowserHistory(): Promise<HTMLElement> {
  const el = builder();
  const status = renderStatus();
  const { element, input } = renderCheckbox(t('historySwitch'), await chrome.permissions.contains(HISTORY));
  const describe = () => {
    status.textContent = input.checked ? t('historyForgets') : t('historyKeeps');
  };
  input.addEventListener('change', async () => {
    // Without an await before it: browsers accept a request only directly in the handler of a click.
    const changing = input.checked
      ? chrome.permissions.request(HISTORY)
      : chrome.permissions.remove(HISTORY).then(() => false);
    input.checked = await changing;
    describe();
  });
  describe();
  return renderCard(t('historyTitle'), element, status, el('p', { class: 'hw-note' }, t('historyLimits')));
}

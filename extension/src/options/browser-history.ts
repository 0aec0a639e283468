import { t } from '../language/translate.ts';
import { HISTORY } from '../storage/history-permission.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderCheckbox, renderStatus } from '../ui/controls.ts';

/** The switch that makes hopwise forget pages which the user removes from the history. The permission is its state. */
export async function renderBrowserHistory(): Promise<HTMLElement> {
  const status = renderStatus();
  const isGranted = await chrome.permissions.contains(HISTORY);
  const { element, input } = renderCheckbox(t('historySwitch'), isGranted, async (checked) => {
    // Without an await before it: browsers accept a request only directly in the handler of a click.
    const changing = checked
      ? chrome.permissions.request(HISTORY)
      : chrome.permissions.remove(HISTORY).then(() => false);
    input.checked = await changing;
    describe();
  });
  const describe = () => {
    status.textContent = input.checked ? t('historyForgets') : t('historyKeeps');
  };
  describe();
  const explanation = renderExplanation(t('historyTitle'), t('historyLimits'));
  return renderCardOfGroup(t('historyTitle'), element, status, explanation);
}

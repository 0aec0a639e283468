import { t } from '../../language/translate.ts';
import { requestPinPermissions } from '../../pins/pin-permissions.ts';
import { renderButton } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import type { AutopilotClient } from './autopilot-client.ts';
import { findProblem } from './main-switch.ts';

/**
 * Says that the network slows HTTP/3 down, or may do so, with the button that keeps HTTP/3 off on it for all pages, or allows it again. Hidden where
 * there is nothing to do.
 */
export function renderNetworkSwitch(client: AutopilotClient, status: HTMLElement): HTMLElement {
  const el = builder();
  const text = el('span', {});
  const switchTo = async (keepsOffH3: boolean) => {
    status.textContent = '';
    // Without an await before it: browsers accept a request only directly in the handler of a click.
    const mayPin = !keepsOffH3 || (await requestPinPermissions().catch(() => false));
    if (!mayPin) {
      status.textContent = t('autopilotNotAllowed');
      return;
    }
    status.textContent = (await client.switchNetwork(keepsOffH3)) || (keepsOffH3 ? await findProblem() : '');
  };
  const keepOff = renderButton(t('networkKeepOff'), () => switchTo(true), { class: 'hw-link' });
  const allow = renderButton(t('networkAllow'), () => switchTo(false), { class: 'hw-link' });
  const element = el('div', { class: 'hw-network-switch' }, text, ' ', keepOff, allow);
  const update = () => {
    const { slowsH3, isSuspected, keepsOffH3 } = client.network;
    const hinders = slowsH3 ? t('networkHinders') : t('networkMayHinder');
    element.hidden = !slowsH3 && !isSuspected && !keepsOffH3;
    text.textContent = keepsOffH3 ? t('networkIsKeptOff') : hinders;
    keepOff.hidden = keepsOffH3;
    allow.hidden = !keepsOffH3;
  };
  client.onChange(update);
  update();
  return element;
}

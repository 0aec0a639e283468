import type { HelperWatch } from '../../helper/helper-watch.ts';
import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { INSTALL_PAGE } from '../../ui/install-helper.ts';
import type { AutopilotClient } from './autopilot-client.ts';

/** Says at the autopilot's switch that it is on and can do nothing, as the helper is missing. */
export function renderHelperWarning(client: AutopilotClient, helper: HelperWatch): HTMLElement {
  const el = builder();
  const link = el('a', { href: INSTALL_PAGE, target: '_blank' }, t('helperInstall'));
  const warning = el('p', { class: 'hw-error', role: 'status' });
  const update = () => {
    if (client.settings.isOn) void helper.lookOnce();
    const isShown = client.settings.isOn && helper.isMissing;
    if (isShown !== warning.hasChildNodes())
      warning.replaceChildren(...(isShown ? [t('autopilotNoHelper'), ' ', link] : []));
  };
  client.onChange(update);
  helper.onChange(update);
  update();
  return warning;
}

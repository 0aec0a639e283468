import { sendAutopilotRequest } from '../autopilot/autopilot-messages.ts';
import { AutopilotClient } from '../autopilot/page/autopilot-client.ts';
import { renderMainSwitch } from '../autopilot/page/main-switch.ts';
import { renderNetworkSwitch } from '../autopilot/page/network-switch.ts';
import { renderSiteSwitch } from '../autopilot/page/site-switch.ts';
import { t } from '../language/translate.ts';
import { renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';

/**
 * The autopilot's switches: HTTP/3's on this network, that for all pages, and that for the tab's site.
 *
 * @param url of the tab; '' where it is not known
 */
export async function renderAutopilotSection(url: string): Promise<HTMLElement> {
  const answer = await sendAutopilotRequest({ type: 'autopilot' });
  const el = builder();
  if (!answer.ok) return el('p', { class: 'hw-note' }, answer.error);
  const client = new AutopilotClient(answer);
  const status = renderStatus();
  const main = renderMainSwitch(client, status);
  main.title = t('autopilotExplanation');
  const attributes = { class: 'hw-always', 'aria-label': t('popupAllPages') };
  const site = /^https?:/.test(url) ? [renderSiteSwitch(client, url, status)] : [];
  return el('section', attributes, renderNetworkSwitch(client, status), main, ...site, status);
}

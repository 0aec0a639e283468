import { sendAutopilotRequest } from '../autopilot/autopilot-messages.ts';
import { AutopilotClient } from '../autopilot/page/autopilot-client.ts';
import { renderHereSwitch } from '../autopilot/page/here-switch.ts';
import { renderMainSwitch } from '../autopilot/page/main-switch.ts';
import { renderNetworkSwitch } from '../autopilot/page/network-switch.ts';
import type { HelperWatch } from '../helper/helper-watch.ts';
import { t } from '../language/translate.ts';
import { renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';

interface AutopilotViews {
  /** The autopilot's switch for the tab, and what the network does to HTTP/3. */
  section: HTMLElement[];
  /** The switch for all pages, for a place below. */
  details: HTMLElement[];
}

/** @param url of the tab; '' where it is not known, or of no web page */
export async function renderAutopilot(url: string, helper: HelperWatch): Promise<AutopilotViews> {
  const answer = await sendAutopilotRequest({ type: 'autopilot' });
  const el = builder();
  if (!answer.ok) return { section: [el('p', { class: 'hw-note' }, answer.error)], details: [] };
  const client = new AutopilotClient(answer);
  const status = renderStatus();
  const section = [
    renderHereSwitch(client, url, status, helper),
    renderNetworkSwitch(client, status),
    status,
  ];
  if (url === '') return { section, details: [] };
  const mainStatus = renderStatus();
  const main = renderMainSwitch(client, mainStatus, helper);
  const all = el('section', {}, el('h3', {}, t('autopilotTitle')), main, mainStatus);
  // While it is off, the switch above is the one for all pages.
  const update = () => {
    all.hidden = !client.settings.isOn;
  };
  client.onChange(update);
  update();
  return { section, details: [all] };
}

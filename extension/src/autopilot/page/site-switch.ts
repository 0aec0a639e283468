import { t } from '../../language/translate.ts';
import { isOnSite } from '../../storage/excluded-sites.ts';
import { renderCheckbox } from '../../ui/controls.ts';
import type { AutopilotSettings } from '../autopilot-settings.ts';
import { findRule } from '../site-rules.ts';
import type { AutopilotClient } from './autopilot-client.ts';

/**
 * The switch that has the autopilot leave a page's site alone. Hidden while the autopilot is off.
 *
 * @param url of the page, of http or https
 * @param status says why the rule could not be changed
 */
export function renderSiteSwitch(client: AutopilotClient, url: string, status: HTMLElement): HTMLElement {
  const site = new URL(url).hostname.replace(/\.$/, '');
  const { element, input } = renderCheckbox(t('popupLeaveSite', { site }), false, async (checked) => {
    const { siteRules } = client.settings;
    const changed = checked ? leave(site, siteRules) : stopLeaving(url, siteRules);
    status.textContent = await client.changeSettings({ siteRules: changed });
    update();
  });
  const update = () => {
    const { isOn, siteRules } = client.settings;
    element.hidden = !isOn;
    input.checked = findRule(url, siteRules) === 'leave';
  };
  client.onChange(update);
  update();
  return element;
}

type SiteRules = AutopilotSettings['siteRules'];

const leave = (site: string, rules: SiteRules): SiteRules => [
  ...rules.filter((each) => each.site !== site),
  { site, rule: 'leave' },
];

/** Without those rules that leave a page's site alone, also as one of a wider site. */
const stopLeaving = (url: string, rules: SiteRules): SiteRules =>
  rules.filter(({ site, rule }) => rule !== 'leave' || !isOnSite(url, [site]));

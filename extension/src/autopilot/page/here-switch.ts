import type { HelperWatch } from '../../helper/helper-watch.ts';
import { t } from '../../language/translate.ts';
import { isOnSite } from '../../storage/is-on-site.ts';
import { renderCheckbox } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import type { AutopilotSettings } from '../settings/autopilot-settings.ts';
import { findRule } from '../settings/site-rules.ts';
import type { AutopilotClient } from './autopilot-client.ts';
import { renderHelperWarning } from './helper-warning.ts';
import { switchAutopilot } from './main-switch.ts';

/**
 * The switch for the page that a person looks at: while the autopilot is off it turns it on, for all pages, as its words say; then it
 * has the autopilot leave the page's site alone, or no longer.
 *
 * @param url of the page, of http or https; '' for any other page, where it is the switch for all pages
 * @param status says why the change failed, and what is missing
 */
export function renderHereSwitch(
  client: AutopilotClient,
  url: string,
  status: HTMLElement,
  helper: HelperWatch,
): HTMLElement {
  const site = url === '' ? '' : new URL(url).hostname.replace(/\.$/, '');
  const isOfSite = () => site !== '' && client.settings.isOn;
  const { element, input } = renderCheckbox('', false, async (checked) => {
    status.textContent = '';
    if (isOfSite()) {
      const { siteRules } = client.settings;
      const changed = checked ? stopLeaving(url, siteRules) : leave(site, siteRules);
      status.textContent = await client.changeSettings({ siteRules: changed });
    } else await switchAutopilot(client, checked, status, helper);
    update();
  });
  const words = builder()('span', {});
  element.append(words);
  element.title = t('autopilotExplanation');
  const update = () => {
    const { isOn, siteRules } = client.settings;
    words.textContent = isOfSite() ? t('autopilotOnSite', { site }) : t('autopilotOn');
    input.checked = isOn && (site === '' || findRule(url, siteRules) !== 'leave');
  };
  client.onChange(update);
  update();
  return builder()('div', {}, element, renderHelperWarning(client, helper));
}

type SiteRules = AutopilotSettings['siteRules'];

const leave = (site: string, rules: SiteRules): SiteRules => [
  ...rules.filter((each) => each.site !== site),
  { site, rule: 'leave' },
];

/** Without those rules that leave a page's site alone, also as one of a wider site. */
const stopLeaving = (url: string, rules: SiteRules): SiteRules =>
  rules.filter(({ site, rule }) => rule !== 'leave' || !isOnSite(url, [site]));

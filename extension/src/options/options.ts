import { sendAutopilotRequest } from '../autopilot/autopilot-messages.ts';
import { AutopilotClient } from '../autopilot/page/autopilot-client.ts';
import { t } from '../language/translate.ts';
import { translatePage } from '../language/translate-page.ts';
import { sendMemoryRequest } from '../messages/memory-messages.ts';
import { renderGroup } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import { renderAgeLimit } from './age-limit.ts';
import { renderAutopilotLog } from './autopilot-log.ts';
import { renderAutopilotSwitch } from './autopilot-switch.ts';
import { renderBrowserHistory } from './browser-history.ts';
import { renderDetail } from './detailed-recordings.ts';
import { renderExcludedSites } from './excluded-sites.ts';
import { renderHelperDoctor } from './helper-doctor.ts';
import { renderKnownNetwork } from './known-network.ts';
import { renderLanguageChoice } from './language-choice.ts';
import { renderLearnedTimes } from './learned-times.ts';
import { renderLocalOrigins } from './local-origins.ts';
import { renderNetworkCheck, renderQueryStrings } from './setting-switches.ts';
import { SettingsClient } from './settings-client.ts';
import { renderSiteRules } from './site-rules.ts';
import { renderStartRate } from './start-rate.ts';
import { StoredDataSection } from './stored-data.ts';
import { renderTrafficRules } from './traffic-rules.ts';
import { renderVerificationData } from './verification-data.ts';

await translatePage('optionsTitle');
const el = builder();
document
  .getElementById('header')!
  .append(el('h1', {}, t('optionsTitle')), el('a', { href: 'welcome.html' }, t('firstSteps')));
const content = document.getElementById('content')!;

const stored = new StoredDataSection();
const answer = await sendMemoryRequest({ type: 'settings' });
const autopilot = await sendAutopilotRequest({ type: 'autopilot' });
if (answer.ok && autopilot.ok) {
  const settings = new SettingsClient(answer.settings, () => void stored.refresh());
  const client = new AutopilotClient(autopilot);
  const groups = [
    renderGroup(
      'autopilot',
      t('groupAutopilot'),
      renderAutopilotSwitch(client),
      renderAutopilotLog(client),
      renderLearnedTimes(client),
    ),
    renderGroup(
      'sites',
      t('groupSites'),
      renderSiteRules(client),
      renderExcludedSites(settings),
      await renderLocalOrigins(),
    ),
    renderGroup(
      'privacy',
      t('groupPrivacy'),
      stored.element,
      renderAgeLimit(settings),
      renderQueryStrings(settings),
      await renderBrowserHistory(),
      await renderKnownNetwork(),
    ),
    renderGroup(
      'advanced',
      t('groupAdvanced'),
      renderHelperDoctor(),
      renderNetworkCheck(settings),
      await renderDetail(settings),
      await renderVerificationData(settings),
      renderTrafficRules(client),
      await renderStartRate(settings),
      await renderLanguageChoice(() => location.reload()),
    ),
  ];
  content.replaceChildren(...groups);
  document.getElementById('header')!.append(renderContents(groups));
} else {
  const problem = [answer, autopilot].map((each) => (each.ok ? '' : each.error)).find(Boolean);
  content.replaceChildren(stored.element, el('p', { class: 'hw-note' }, problem));
}

/** Links to the groups. */
function renderContents(groups: readonly HTMLElement[]): HTMLElement {
  const links = groups.map((group) => {
    const heading = group.querySelector('h2')!;
    return el('a', { href: `#${heading.id}` }, heading.textContent);
  });
  return el('nav', { 'aria-label': t('optionsTitle') }, ...links);
}

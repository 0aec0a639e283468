import { sendMemoryRequest } from '../messages/memory-messages.ts';
import { builder } from '../ui/dom.ts';
import { renderAgeLimit } from './age-limit.ts';
import { renderBrowserHistory } from './browser-history.ts';
import { renderExcludedSites } from './excluded-sites.ts';
import { renderLocalOrigins } from './local-origins.ts';
import { renderQueryStrings } from './query-strings.ts';
import { SettingsClient } from './settings-client.ts';
import { StoredDataSection } from './stored-data.ts';

const content = document.getElementById('content')!;

const stored = new StoredDataSection();
const answer = await sendMemoryRequest({ type: 'settings' });
if (answer.ok) {
  const settings = new SettingsClient(answer.settings, () => void stored.refresh());
  content.replaceChildren(
    stored.element,
    renderAgeLimit(settings),
    renderExcludedSites(settings),
    renderQueryStrings(settings),
    await renderBrowserHistory(),
    await renderLocalOrigins(),
  );
} else content.replaceChildren(stored.element, builder()('p', { class: 'hw-note' }, answer.error));

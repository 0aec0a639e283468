import { t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import { renderCheckbox, renderStatus } from './controls.ts';
import type { SettingsClient } from './settings-client.ts';

/** The switch that keeps query strings in stored URLs. */
export function renderQueryStrings(settings: SettingsClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const { element, input } = renderCheckbox(t('queriesSwitch'), settings.current.keepsQueries);
  input.addEventListener('change', async () => {
    status.textContent = await settings.change({ keepsQueries: input.checked });
  });
  return renderCard(
    t('queriesTitle'),
    element,
    el('p', { class: 'hw-note' }, t('queriesExplanation')),
    status,
  );
}

import { t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import { renderCheckbox, renderStatus } from './controls.ts';
import type { SettingsClient } from './settings-client.ts';

/** The switch that announces the network's rate to servers that ask for it. */
export function renderStartRate(settings: SettingsClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const { element, input } = renderCheckbox(t('startRateSwitch'), settings.current.announcesStartRate);
  input.addEventListener('change', async () => {
    status.textContent = await settings.change({ announcesStartRate: input.checked });
  });
  return renderCard(
    t('startRateTitle'),
    element,
    el('p', { class: 'hw-note' }, t('startRateExplanation')),
    status,
  );
}

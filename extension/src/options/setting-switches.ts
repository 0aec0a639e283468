/** The settings that are a switch with an explanation. */
import { t } from '../language/translate.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderCheckbox, renderStatus } from '../ui/controls.ts';
import type { SettingsClient } from './settings-client.ts';

/** The switch that keeps query strings in stored URLs. */
export function renderQueryStrings(settings: SettingsClient): HTMLElement {
  return renderSwitch(settings, 'keepsQueries', [
    t('queriesTitle'),
    t('queriesSwitch'),
    t('queriesExplanation'),
  ]);
}

/** The switch that has new networks checked by a small transfer. */
export function renderNetworkCheck(settings: SettingsClient): HTMLElement {
  const words = [t('networkCheckTitle'), t('networkCheckSwitch'), t('networkCheckExplanation')] as const;
  return renderSwitch(settings, 'checksNetworks', words);
}

function renderSwitch(
  settings: SettingsClient,
  name: 'keepsQueries' | 'checksNetworks',
  [title, label, explanation]: readonly [string, string, string],
): HTMLElement {
  const status = renderStatus();
  const { element } = renderCheckbox(label, settings.current[name], async (checked) => {
    status.textContent = await settings.change({ [name]: checked });
  });
  return renderCardOfGroup(title, element, status, renderExplanation(title, explanation));
}

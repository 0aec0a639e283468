import { plural, t } from '../language/translate.ts';
import { AGE_LIMITS_HOURS } from '../storage/settings.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderSelect, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import type { SettingsClient } from './settings-client.ts';

/** Lets the user choose how long page loads are kept. */
export function renderAgeLimit(settings: SettingsClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const select = renderSelect(
    AGE_LIMITS_HOURS.map((hours) => [String(hours), formatHours(hours)] as const),
    {
      value: String(settings.current.ageLimitHours),
      onChange: async (value) => {
        const ageLimitHours = AGE_LIMITS_HOURS.find((hours) => String(hours) === value);
        if (ageLimitHours) status.textContent = await settings.change({ ageLimitHours });
      },
    },
  );
  return renderCardOfGroup(
    t('ageLimitTitle'),
    el('label', { class: 'hw-row' }, t('ageLimitLabel'), select),
    status,
    renderExplanation(t('ageLimitTitle'), t('ageLimitExplanation')),
  );
}

function formatHours(hours: number): string {
  return hours < 24 ? plural('hours', hours) : plural('days', hours / 24);
}

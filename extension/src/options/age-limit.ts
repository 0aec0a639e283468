import { plural, t } from '../language/translate.ts';
import { AGE_LIMITS_HOURS } from '../storage/settings.ts';
import { renderCard } from '../ui/card.ts';
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
  return renderCard(
    t('ageLimitTitle'),
    el('label', { class: 'hw-row' }, t('ageLimitLabel'), select),
    el('p', { class: 'hw-note' }, t('ageLimitExplanation')),
    status,
  );
}

function formatHours(hours: number): string {
  return hours < 24 ? plural('hours', hours) : plural('days', hours / 24);
}

import { plural, t } from '../language/translate.ts';
import { MAX_HOURS_UNHEARD } from '../storage/age-limit.ts';
import { HISTORY } from '../storage/history-permission.ts';
import { AGE_LIMITS_HOURS } from '../storage/settings.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderSelect, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import type { SettingsClient } from './settings-client.ts';

/** Lets the user choose how long page loads are kept. */
export function renderAgeLimit(settings: SettingsClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const effect = el('p', { class: 'hw-note' });
  const showEffect = async () => {
    const isCut = settings.current.ageLimitHours > MAX_HOURS_UNHEARD;
    effect.textContent = isCut && !(await chrome.permissions.contains(HISTORY)) ? t('ageLimitCut') : '';
  };
  chrome.permissions.onAdded.addListener(showEffect);
  chrome.permissions.onRemoved.addListener(showEffect);
  void showEffect();
  const select = renderSelect(
    AGE_LIMITS_HOURS.map((hours) => [String(hours), formatHours(hours)] as const),
    {
      value: String(settings.current.ageLimitHours),
      onChange: async (value) => {
        const ageLimitHours = AGE_LIMITS_HOURS.find((hours) => String(hours) === value);
        if (ageLimitHours) status.textContent = await settings.change({ ageLimitHours });
        await showEffect();
      },
    },
  );
  return renderCardOfGroup(
    t('ageLimitTitle'),
    el('label', { class: 'hw-row' }, t('ageLimitLabel'), select),
    status,
    effect,
    renderExplanation(t('ageLimitTitle'), t('ageLimitExplanation')),
  );
}

function formatHours(hours: number): string {
  return hours < 24 ? plural('hours', hours) : plural('days', hours / 24);
}

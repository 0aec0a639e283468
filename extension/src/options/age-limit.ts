import { AGE_LIMITS_HOURS } from '../storage/settings.ts';
import { builder } from '../ui/dom.ts';
import { formatCount } from '../ui/format.ts';
import { renderSection, renderStatus } from './section.ts';
import type { SettingsClient } from './settings-client.ts';

const EXPLANATION =
  'Older page loads are erased, and so are all but the newest 50. The learned network is erased after three days at the latest.';

/** Lets the user choose how long page loads are kept. */
export function renderAgeLimit(settings: SettingsClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const select = el(
    'select',
    { class: 'hw-select' },
    ...AGE_LIMITS_HOURS.map((hours) => el('option', { value: String(hours) }, formatHours(hours))),
  );
  select.value = String(settings.current.ageLimitHours);
  select.addEventListener('change', async () => {
    const ageLimitHours = AGE_LIMITS_HOURS.find((hours) => String(hours) === select.value);
    if (ageLimitHours) status.textContent = await settings.change({ ageLimitHours });
  });
  return renderSection(
    'How long it is kept',
    el('label', { class: 'hw-row' }, 'Keep page loads for', select),
    el('p', { class: 'hw-note' }, EXPLANATION),
    status,
  );
}

function formatHours(hours: number): string {
  return hours < 24 ? formatCount(hours, 'hour') : formatCount(hours / 24, 'day');
}

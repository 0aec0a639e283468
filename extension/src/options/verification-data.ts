import { t } from '../language/translate.ts';
import { DAILY_LIMITS_BYTES, VERIFICATION_LIMITS_BYTES } from '../storage/settings.ts';
import { readBytesToday } from '../storage/verification-data.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderSelect, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { formatBytes } from '../ui/format.ts';
import type { SettingsClient } from './settings-client.ts';

/** Lets the user limit the data of verifications. */
export async function renderVerificationData(settings: SettingsClient): Promise<HTMLElement> {
  const el = builder();
  const status = renderStatus();
  const { maxVerificationBytes, maxDailyBytes } = settings.current;
  return renderCardOfGroup(
    t('verificationDataTitle'),
    renderLimit({
      label: t('verificationDataEach'),
      none: t('verificationDataEachNone'),
      limits: VERIFICATION_LIMITS_BYTES,
      value: maxVerificationBytes,
      onChange: async (bytes) => {
        status.textContent = await settings.change({ maxVerificationBytes: bytes });
      },
    }),
    renderLimit({
      label: t('verificationDataDaily'),
      none: t('verificationDataDailyNone'),
      limits: DAILY_LIMITS_BYTES,
      value: maxDailyBytes,
      onChange: async (bytes) => {
        status.textContent = await settings.change({ maxDailyBytes: bytes });
      },
    }),
    el('p', { class: 'hw-note' }, t('verificationDataToday', { bytes: formatBytes(await readBytesToday()) })),
    status,
    renderExplanation(t('verificationDataTitle'), t('verificationDataExplanation')),
  );
}

interface LimitOptions<T extends number> {
  label: string;
  /** Name of the choice without a limit. */
  none: string;
  limits: readonly T[];
  /** Null for none. */
  value: T | null;
  onChange(bytes: T | null): Promise<void>;
}

function renderLimit<T extends number>({
  label,
  none,
  limits,
  value,
  onChange,
}: LimitOptions<T>): HTMLElement {
  const choices = limits.map((bytes) => [String(bytes), formatBytes(bytes)] as const);
  const select = renderSelect([['', none], ...choices], {
    value: value === null ? '' : String(value),
    onChange: (chosen) => onChange(limits.find((bytes) => String(bytes) === chosen) ?? null),
  });
  return builder()('label', { class: 'hw-row' }, label, select);
}

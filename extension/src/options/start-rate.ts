import { t } from '../language/translate.ts';
import { canAnnounceStartRate, requestStartRate } from '../storage/detail-permission.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderCheckbox, renderStatus } from '../ui/controls.ts';
import type { SettingsClient } from './settings-client.ts';

/** The switch that announces the network's rate to servers that ask for it, which needs permissions. */
export async function renderStartRate(settings: SettingsClient): Promise<HTMLElement> {
  const status = renderStatus();
  const isOn = settings.current.announcesStartRate && (await canAnnounceStartRate());
  const { element, input } = renderCheckbox(t('startRateSwitch'), isOn, async (checked) => {
    const access = checked ? await requestStartRate() : null;
    input.checked = checked && (await canAnnounceStartRate());
    const problem = await settings.change({ announcesStartRate: input.checked });
    status.textContent = problem || (access === 'waiting' ? t('startRateWaiting') : '');
  });
  const explanation = renderExplanation(t('startRateTitle'), t('startRateExplanation'));
  return renderCardOfGroup(t('startRateTitle'), element, status, explanation);
}

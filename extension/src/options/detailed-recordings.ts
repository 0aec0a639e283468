import { t } from '../language/translate.ts';
import {
  type DetailAccess,
  isDetailOptional,
  readDetailAccess,
  removeDetail,
  requestDetail,
} from '../storage/detail-permission.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderCheckbox, renderStatus } from '../ui/controls.ts';
import type { SettingsClient } from './settings-client.ts';

/** The switches of detailed recordings: whether they are allowed, and whether every load is recorded so. */
export async function renderDetail(settings: SettingsClient): Promise<HTMLElement> {
  const status = renderStatus();
  const every = renderCheckbox(t('detailSwitch'), settings.current.recordsInDetail, async (checked) => {
    status.textContent = await settings.change({ recordsInDetail: checked });
  });
  if (!isDetailOptional()) {
    const explanation = renderExplanation(t('detailTitle'), t('detailExplanation'));
    return renderCardOfGroup(t('detailTitle'), every.element, status, explanation);
  }

  const allowed = renderCheckbox(t('detailAllow'), false, async (checked) => {
    if (checked) show(await requestDetail());
    else {
      // What needs the permission ends with it.
      const problem = await settings.change({ recordsInDetail: false, announcesStartRate: false });
      await removeDetail();
      show(await readDetailAccess());
      status.textContent = problem || t('detailRemoved');
    }
  });
  const show = (access: DetailAccess) => {
    const isAllowed = access !== 'missing';
    allowed.input.checked = isAllowed;
    every.input.disabled = !isAllowed;
    every.input.checked = isAllowed && settings.current.recordsInDetail;
    status.textContent = access === 'waiting' ? t('detailWaiting') : '';
  };
  show(await readDetailAccess());
  const explanation = renderExplanation(t('detailTitle'), t('detailExplanation'), t('detailCost'));
  return renderCardOfGroup(t('detailTitle'), allowed.element, every.element, status, explanation);
}

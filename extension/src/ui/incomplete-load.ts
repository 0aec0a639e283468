import { t } from '../language/translate.ts';
import type { IncompleteLoad } from '../messages/load-messages.ts';
import { renderButton } from './controls.ts';
import { builder } from './dom.ts';

/** States why the last load does not show how long the page takes, with a button that loads the page in full; empty for a full load. */
export function renderIncomplete(load: IncompleteLoad | null, reload: () => Promise<unknown>): HTMLElement[] {
  if (load === null) return [];
  const el = builder();
  const button = renderButton(t('incompleteReload'), reload);
  return [el('section', { class: 'hw-incomplete hw-wide' }, el('p', {}, describeIncomplete(load)), button)];
}

/** `2 of 84 requests came from the network; showing the last full load.` */
function describeIncomplete(load: IncompleteLoad): string {
  const why = describeCause(load);
  return load.isReplaced ? t('incompleteReplaced', { why }) : t('incompleteShown', { why });
}

function describeCause({ kind, networkRequests, requests }: IncompleteLoad): string {
  switch (kind) {
    case 'cached':
      return t('incompleteCached', { sent: networkRequests, all: requests });
    case 'full':
      return t('incompleteFull');
    case 'partial':
      return t('incompletePartial');
    case 'error':
      return t('incompleteError');
    case 'form':
      return t('incompleteForm');
    case 'background':
      return t('incompleteBackground');
    case 'disturbed':
      return t('incompleteDisturbed');
    case 'shared':
      return t('incompleteShared');
  }
}

import { t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';

/** What the browser asks for when a feature is switched on, and why. */
export function renderLaterPermissions(): HTMLElement {
  const el = builder();
  const later = [{ feature: t('laterFaster'), asks: t('laterFasterAsks'), reason: t('laterFasterReason') }];
  const head = [t('laterChoose'), t('laterAsks'), t('laterBecause')].map((name) =>
    el('th', { scope: 'col' }, name),
  );
  const rows = later.map(({ feature, asks, reason }) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, feature),
      el('td', { 'data-label': t('laterAsks') }, asks),
      el('td', { 'data-label': t('laterBecause') }, reason),
    ),
  );
  return renderCard(
    t('laterTitle'),
    el('table', { class: 'hw-table' }, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows)),
  );
}

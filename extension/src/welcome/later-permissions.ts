import { t } from '../language/translate.ts';
import { isDetailOptional } from '../storage/detail-permission.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';

/** What the browser asks for when a feature is switched on, and why. */
export function renderLaterPermissions(): HTMLElement {
  const el = builder();
  const later = [
    { feature: t('laterFaster'), asks: t('laterFasterAsks'), reason: t('laterFasterReason') },
    // Elsewhere the permission costs nothing and is there from the start.
    ...(isDetailOptional()
      ? [{ feature: t('detailAllow'), asks: t('laterDetailAsks'), reason: t('laterDetailReason') }]
      : []),
  ];
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

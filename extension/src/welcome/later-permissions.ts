import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';

/** What the browser asks for when a feature is switched on, and why. */
const LATER = [
  {
    feature: 'Make it faster',
    asks: 'Log in to a proxy, in Firefox control the proxy settings, and access to all sites',
    reason:
      'pinned sites, and no others, go through the helper on this computer, and any page can request something from them',
  },
  {
    feature: 'Forget pages that I remove from the browser’s history',
    asks: 'Read the history',
    reason: 'hopwise then erases its records of those pages too; it reads nothing else of the history',
  },
] as const;

export function renderLaterPermissions(): HTMLElement {
  const el = builder();
  const head = ['When you choose', 'the browser asks for', 'because'].map((name) =>
    el('th', { scope: 'col' }, name),
  );
  const rows = LATER.map(({ feature, asks, reason }) =>
    el('tr', {}, el('th', { scope: 'row' }, feature), el('td', {}, asks), el('td', {}, reason)),
  );
  return renderCard(
    'Asked for later, if ever',
    el('table', { class: 'hw-table' }, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows)),
  );
}

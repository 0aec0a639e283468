import type { LoadKind } from '../evidence/load-quality.ts';
import type { IncompleteLoad } from '../messages/load-messages.ts';
import { builder } from './dom.ts';

/** States why the last load does not show how long the page takes, with a button that loads the page in full; empty for a full load. */
export function renderIncomplete(load: IncompleteLoad | null, reload: () => Promise<unknown>): HTMLElement[] {
  if (load === null) return [];
  const el = builder();
  const button = el('button', { type: 'button', class: 'hw-button' }, 'Reload without cache');
  button.addEventListener('click', () => void reload());
  return [el('section', { class: 'hw-incomplete hw-wide' }, el('p', {}, describeIncomplete(load)), button)];
}

/** `2 of 84 requests came from the network; showing the last full load.` */
export function describeIncomplete(load: IncompleteLoad): string {
  const why = load.kind === 'cached' ? describeCached(load) : WHY[load.kind];
  return `${why}; ${load.isReplaced ? 'showing the last full load' : 'a full load may take longer'}.`;
}

const describeCached = ({ networkRequests, requests }: IncompleteLoad): string =>
  `${networkRequests} of ${requests} requests came from the network`;

const WHY: Record<Exclude<LoadKind, 'cached'>, string> = {
  full: 'The last load is complete',
  partial: 'The last load did not finish',
  background: 'The last load ran in a hidden tab',
  disturbed: 'The last load was disturbed or throttled',
};

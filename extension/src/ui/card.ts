import { builder, type Child } from './dom.ts';

/** A card with its heading. */
export function renderCard(title: string, ...children: Child[]): HTMLElement {
  const el = builder();
  return el('section', { class: 'hw-card' }, el('h2', {}, title), ...children);
}

import { builder, type Child } from '../ui/dom.ts';

/** A card of the options page with its heading. */
export function renderSection(title: string, ...children: Child[]): HTMLElement {
  const el = builder();
  return el('section', { class: 'hw-card' }, el('h2', {}, title), ...children);
}

import { t } from '../language/translate.ts';
import { builder, type Child } from './dom.ts';

/** A card with its heading. */
export function renderCard(title: string, ...children: Child[]): HTMLElement {
  const el = builder();
  return el('section', { class: 'hw-card' }, el('h2', {}, title), ...children);
}

/** A card among those of a group, whose heading is above them. */
export function renderCardOfGroup(title: string, ...children: Child[]): HTMLElement {
  const el = builder();
  return el('section', { class: 'hw-card' }, el('h3', {}, title), ...children);
}

/** A heading with its cards. */
export function renderGroup(id: string, title: string, ...cards: HTMLElement[]): HTMLElement {
  const el = builder();
  const heading = el('h2', { id, tabindex: '-1' }, title);
  return el('section', { class: 'hw-group', 'aria-labelledby': id }, heading, ...cards);
}

/** An explanation that opens on request. @param title of what it explains */
export function renderExplanation(title: string, ...texts: string[]): HTMLElement {
  const el = builder();
  const summary = el('summary', { 'aria-label': t('explanationOf', { title }) }, t('explanation'));
  return el('details', { class: 'hw-explanation' }, summary, ...texts.map((text) => el('p', {}, text)));
}

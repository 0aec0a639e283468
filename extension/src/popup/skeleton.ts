import { builder } from '../ui/dom.ts';

/** What a prediction will look like, while it is made. The page begins with the same elements. @param words what is awaited */
export function renderSkeleton(words: string): HTMLElement[] {
  const el = builder();
  const shapes = [
    'hw-skeleton hw-skeleton-headline',
    'hw-skeleton',
    'hw-skeleton',
    'hw-skeleton hw-skeleton-button',
  ];
  return [
    el('p', { class: 'hw-visually-hidden' }, words),
    ...shapes.map((name) => el('div', { class: name })),
  ];
}

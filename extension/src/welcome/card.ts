import { builder, type Child } from '../ui/dom.ts';

/** A step with its heading. */
export function renderCard(title: string, ...children: Child[]): HTMLElement {
  const el = builder();
  return el('section', { class: 'hw-card' }, el('h2', {}, title), ...children);
}

/** A line that says whether a step is done; screen readers announce its changes. */
export function renderState(): { element: HTMLElement; show: (text: string, isReady: boolean) => void } {
  const element = builder()('p', { class: 'hw-state', role: 'status' });
  return {
    element,
    show(text, isReady) {
      element.textContent = text;
      element.dataset.ready = String(isReady);
    },
  };
}

import { builder } from '../ui/dom.ts';

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

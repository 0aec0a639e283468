import { builder, type Child } from '../ui/dom.ts';

/** A card of the options page with its heading. */
export function renderSection(title: string, ...children: Child[]): HTMLElement {
  const el = builder();
  return el('section', { class: 'hw-card' }, el('h2', {}, title), ...children);
}

/** A line that screen readers announce when its text changes. */
export function renderStatus(): HTMLElement {
  return builder()('p', { class: 'hw-note', role: 'status' });
}

/** A labelled checkbox. */
export function renderCheckbox(
  label: string,
  checked: boolean,
): { element: HTMLElement; input: HTMLInputElement } {
  const el = builder();
  const input = el('input', { type: 'checkbox' });
  input.checked = checked;
  return { element: el('label', { class: 'hw-check' }, input, label), input };
}

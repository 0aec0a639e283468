import { builder } from '../ui/dom.ts';

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

import { builder } from './dom.ts';

/** A line that screen readers announce when its text changes. */
export function renderStatus(): HTMLElement {
  return builder()('p', { class: 'hw-note', role: 'status' });
}

/** @param attributes such as a label; the class is `hw-button` unless they have another */
export function renderButton(
  text: string,
  onClick: () => unknown,
  attributes: Record<string, string> = {},
): HTMLButtonElement {
  const button = builder()('button', { type: 'button', class: 'hw-button', ...attributes }, text);
  button.addEventListener('click', () => void onClick());
  return button;
}

/** A button whose text is a sign, with its label in words. */
export function renderSignButton(sign: string, label: string, onClick: () => unknown): HTMLButtonElement {
  return renderButton(sign, onClick, { 'aria-label': label, title: label });
}

/** A labelled checkbox. */
export function renderCheckbox(
  label: string,
  checked: boolean,
  onChange: (checked: boolean) => unknown,
): { element: HTMLElement; input: HTMLInputElement } {
  const el = builder();
  const input = el('input', { type: 'checkbox' });
  input.checked = checked;
  input.addEventListener('change', () => void onChange(input.checked));
  return { element: el('label', { class: 'hw-check' }, input, label), input };
}

/**
 * A choice of one of several values.
 *
 * @param choices values with their names
 * @param value chosen at first, the first choice if not given
 */
export function renderSelect<T extends string>(
  choices: readonly (readonly [value: T, name: string])[],
  {
    value,
    onChange,
    ...attributes
  }: { value?: T; onChange?: (value: T) => unknown; class?: string; 'aria-label'?: string } = {},
): HTMLSelectElement {
  const el = builder();
  const options = choices.map(([value, name]) => el('option', { value }, name));
  const select = el('select', { class: 'hw-select', ...attributes }, ...options);
  if (value !== undefined) select.value = value;
  select.addEventListener('change', () => void onChange?.(select.value as T));
  return select;
}

/** A term with its value, several of them in a `dl`. */
export function renderFigures(figures: readonly (readonly [term: string, value: string])[]): HTMLElement[] {
  const el = builder();
  return figures.flatMap(([term, value]) => [el('dt', {}, term), el('dd', {}, value)]);
}

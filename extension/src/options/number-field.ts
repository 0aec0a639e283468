import { t } from '../language/translate.ts';
import { renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';

interface NumberFieldOptions {
  label: string;
  unit: string;
  value: number;
  min: number;
  max: number;
  /** @returns '' or why the change failed */
  onChange(value: number): Promise<string>;
}

/** A labelled field for a number, which says what it expects when another value is entered. */
export function renderNumberField({
  label,
  unit,
  value,
  min,
  max,
  onChange,
}: NumberFieldOptions): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const input = el('input', {
    type: 'number',
    class: 'hw-field hw-field-number',
    value: String(value),
    min: String(min),
    max: String(max),
    step: 'any',
  });
  input.addEventListener('change', async () => {
    const isValid = input.value !== '' && input.checkValidity();
    input.setAttribute('aria-invalid', String(!isValid));
    status.textContent = isValid ? await onChange(input.valueAsNumber) : t('numberExpected', { min, max });
  });
  return el('div', {}, el('label', { class: 'hw-row' }, label, input, unit), status);
}

import { t } from '../language/translate.ts';
import { renderButton } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';

/** Tools of a view that narrow panels show in a second line, at the click of the button before them. */
export function renderFolded(...tools: (HTMLElement | null)[]): HTMLElement[] {
  const button = renderButton(
    t('toolMore'),
    () => button.setAttribute('aria-expanded', String(button.getAttribute('aria-expanded') !== 'true')),
    { class: 'hw-button hw-unfold', 'aria-expanded': 'false' },
  );
  return [button, builder()('div', { class: 'hw-folded' }, ...tools)];
}

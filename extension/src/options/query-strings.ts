import { builder } from '../ui/dom.ts';
import { renderCheckbox, renderSection, renderStatus } from './section.ts';
import type { SettingsClient } from './settings-client.ts';

const EXPLANATION =
  'What follows “?” in a URL may contain search terms or access keys. hopwise replaces it by a number before it stores a page load. ' +
  'Verifications need it: it stays in memory until the browser closes. Passwords in URLs and what follows “#” are never stored.';

/** The switch that keeps query strings in stored URLs. */
export function renderQueryStrings(settings: SettingsClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const { element, input } = renderCheckbox('Keep query strings', settings.current.keepsQueries);
  input.addEventListener('change', async () => {
    status.textContent = await settings.change({ keepsQueries: input.checked });
  });
  return renderSection('Query strings', element, el('p', { class: 'hw-note' }, EXPLANATION), status);
}

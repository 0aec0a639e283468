import { t } from '../language/translate.ts';
import { normalizeSite } from '../storage/excluded-sites.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import { renderStatus } from './controls.ts';
import type { SettingsClient } from './settings-client.ts';

/** The list of excluded sites, with a field to add one. */
export function renderExcludedSites(settings: SettingsClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const list = el('ul', { class: 'hw-sites', 'aria-label': t('excludedTitle') });
  const field = el('input', {
    type: 'text',
    class: 'hw-field',
    placeholder: 'example.org',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
  const add = el('button', { class: 'hw-button' }, t('excludedAdd'));
  const form = el('form', { class: 'hw-row' }, el('label', { class: 'hw-row' }, t('site'), field), add);

  const change = async (excludedSites: string[], done: string) => {
    const erased = await settings.change({ excludedSites });
    status.textContent = `${done} ${erased}`.trim();
    draw();
  };
  const draw = () => list.replaceChildren(...settings.current.excludedSites.map(renderSite));
  const renderSite = (site: string) => {
    const remove = el(
      'button',
      { type: 'button', class: 'hw-link', 'aria-label': t('excludedRemove', { site }) },
      t('remove'),
    );
    remove.addEventListener('click', async () => {
      const others = settings.current.excludedSites.filter((other) => other !== site);
      await change(others, t('excludedRemoved', { site }));
      field.focus();
    });
    return el('li', {}, el('span', {}, site), remove);
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const site = normalizeSite(field.value);
      const sites = new Set([...settings.current.excludedSites, site]);
      await change([...sites].sort(), t('excludedAdded', { site }));
      field.value = '';
    } catch (error) {
      status.textContent = (error as Error).message;
    }
  });
  draw();
  return renderCard(t('excludedTitle'), el('p', {}, t('excludedExplanation')), form, status, list);
}

import { normalizeSite } from '../storage/excluded-sites.ts';
import { builder } from '../ui/dom.ts';
import { renderSection, renderStatus } from './section.ts';
import type { SettingsClient } from './settings-client.ts';

const EXPLANATION =
  'hopwise records nothing on these sites and their subdomains, nor in frames of them on other sites. Excluding a site erases its page loads.';

/** The list of excluded sites, with a field to add one. */
export function renderExcludedSites(settings: SettingsClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const list = el('ul', { class: 'hw-sites', 'aria-label': 'Excluded sites' });
  const field = el('input', {
    type: 'text',
    class: 'hw-field',
    placeholder: 'example.org',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
  const add = el('button', { class: 'hw-button' }, 'Exclude');
  const form = el('form', { class: 'hw-row' }, el('label', { class: 'hw-row' }, 'Site', field), add);

  const change = async (excludedSites: string[], done: string) => {
    const erased = await settings.change({ excludedSites });
    status.textContent = `${done} ${erased}`.trim();
    draw();
  };
  const draw = () => list.replaceChildren(...settings.current.excludedSites.map(renderSite));
  const renderSite = (site: string) => {
    const remove = el(
      'button',
      { type: 'button', class: 'hw-link', 'aria-label': `Remove ${site}` },
      'Remove',
    );
    remove.addEventListener('click', async () => {
      const others = settings.current.excludedSites.filter((other) => other !== site);
      await change(others, `${site} is recorded again.`);
      field.focus();
    });
    return el('li', {}, el('span', {}, site), remove);
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const site = normalizeSite(field.value);
      const sites = new Set([...settings.current.excludedSites, site]);
      await change([...sites].sort(), `${site} is excluded.`);
      field.value = '';
    } catch (error) {
      status.textContent = (error as Error).message;
    }
  });
  draw();
  return renderSection('Excluded sites', el('p', {}, EXPLANATION), form, status, list);
}

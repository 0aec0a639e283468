import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import { ALL_SITES, ONE_SITE_NOTE, parseSitePattern } from '../ui/site-access.ts';
import { renderState } from './step-state.ts';

const REASON =
  'hopwise reads when a page requested what and how long that took: never its text, its forms or your cookies. Without access to a ' +
  'site it records nothing there.';
const GRANTED_ALL =
  'hopwise may record the times of all sites. To limit it to some, open the browser’s settings of this extension and choose its site access.';

/** The step that asks for access to web pages: all of them, or some sites. */
export async function renderPageAccess(): Promise<HTMLElement> {
  const el = builder();
  const state = renderState();
  const all = el('button', { type: 'button', class: 'hw-button hw-button-primary' }, 'Allow on all sites');
  const site = el('input', { id: 'site', class: 'hw-field', autocomplete: 'off', spellcheck: 'false' });
  const one = el('button', { class: 'hw-button' }, 'Allow on this site');
  const form = el(
    'form',
    { class: 'hw-row' },
    el('label', { for: 'site' }, 'A site, such as example.org', site),
    one,
  );
  const choices = el('div', { class: 'hw-row' }, all);
  const note = el('p', { class: 'hw-note' }, ONE_SITE_NOTE);

  const update = async () => {
    const hasAll = await chrome.permissions.contains(ALL_SITES);
    const { origins = [] } = await chrome.permissions.getAll();
    choices.hidden = hasAll;
    form.hidden = hasAll;
    note.hidden = hasAll;
    if (hasAll) state.show(GRANTED_ALL, true);
    else if (origins.length > 0)
      state.show(`hopwise may record the times of ${origins.map(nameSite).join(', ')}.`, true);
    else state.show('hopwise has access to no site yet.', false);
  };
  all.addEventListener('click', () => {
    // Without an await before it: browsers accept the request only directly in a click handler.
    void chrome.permissions.request(ALL_SITES).then(update);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const pattern = parseSitePattern(site.value);
    if (pattern === null)
      return state.show(`Expected a site such as example.org, not “${site.value.trim()}”.`, false);
    void chrome.permissions.request({ origins: [pattern] }).then(update);
  });
  await update();
  return renderCard('1. Access to web pages', el('p', {}, REASON), state.element, choices, form, note);
}

/** `example.org` of `*://*.example.org/*`. */
const nameSite = (pattern: string): string => pattern.replace(/^[^/]*:\/\/(\*\.)?/, '').replace(/\/\*$/, '');

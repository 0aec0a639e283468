import { t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { renderButton } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { formatList } from '../ui/format.ts';
import { ALL_SITES, parseSitePattern } from '../ui/site-access.ts';
import { renderState } from './step-state.ts';

/** The step that asks for access to web pages: all of them, or some sites. */
export async function renderPageAccess(): Promise<HTMLElement> {
  const el = builder();
  const state = renderState();
  // Without an await before it: browsers accept the request only directly in a click handler.
  const allowAll = () => chrome.permissions.request(ALL_SITES).then(update);
  const all = renderButton(t('accessAllowAll'), allowAll, { class: 'hw-button hw-button-primary' });
  const site = el('input', { id: 'site', class: 'hw-field', autocomplete: 'off', spellcheck: 'false' });
  const one = el('button', { class: 'hw-button' }, t('accessAllowThis'));
  const form = el('form', { class: 'hw-row' }, el('label', { for: 'site' }, t('accessField'), site), one);
  const choices = el('div', { class: 'hw-row' }, all);
  const note = el('p', { class: 'hw-note' }, t('accessOneSite'));

  const update = async () => {
    const hasAll = await chrome.permissions.contains(ALL_SITES);
    const { origins = [] } = await chrome.permissions.getAll();
    choices.hidden = hasAll;
    form.hidden = hasAll;
    note.hidden = hasAll;
    if (hasAll) state.show(t('accessAll'), true);
    else if (origins.length > 0)
      state.show(t('accessSome', { sites: formatList(origins.map(nameSite)) }), true);
    else state.show(t('accessNone'), false);
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const pattern = parseSitePattern(site.value);
    if (pattern === null) return state.show(t('siteExpected', { text: site.value.trim() }), false);
    void chrome.permissions.request({ origins: [pattern] }).then(update);
  });
  await update();
  return renderCard(t('accessTitle'), el('p', {}, t('accessReason')), state.element, choices, form, note);
}

/** `example.org` of `*://*.example.org/*`. */
const nameSite = (pattern: string): string => pattern.replace(/^[^/]*:\/\/(\*\.)?/, '').replace(/\/\*$/, '');

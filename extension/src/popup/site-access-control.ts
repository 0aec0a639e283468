import { t } from '../language/translate.ts';
import { renderButton } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { ALL_SITES, parseSitePattern } from '../ui/site-access.ts';

/**
 * Requests access to the site of a tab where the extension has none.
 *
 * @param url of the tab; undefined if the browser hides it from extensions
 * @returns null where there is nothing to request
 */
export async function renderSiteAccessRequest(url: string | undefined): Promise<HTMLElement | null> {
  const pattern = url !== undefined && /^https?:/.test(url) ? parseSitePattern(url) : null;
  if (!(await isAccessMissing(pattern === null ? undefined : url))) return null;
  const el = builder();
  const site = pattern === null ? '' : new URL(url!).hostname;
  const status = el(
    'p',
    { class: 'hw-note', role: 'status' },
    pattern === null ? t('accessMissingAnywhere') : t('accessMissing', { site }),
  );
  const choices = el('div', { class: 'hw-row' });
  const note = el('p', { class: 'hw-note' }, pattern === null ? '' : t('accessOneSite'));
  const offer = (words: string, permissions: chrome.permissions.Permissions): HTMLElement =>
    // Without an await before it: browsers accept the request only directly in a click handler.
    renderButton(words, () =>
      chrome.permissions.request(permissions).then((granted) => {
        if (!granted) return;
        choices.remove();
        note.remove();
        status.textContent = t('accessGranted');
      }),
    );
  if (pattern !== null) choices.append(offer(t('accessAllowSite', { site }), { origins: [pattern] }));
  choices.append(offer(t('accessAllowAll'), ALL_SITES));
  return el('section', {}, status, choices, note);
}

/** @param url of the tab; undefined on pages of the browser, where access to any site is enough */
async function isAccessMissing(url: string | undefined): Promise<boolean> {
  if (url !== undefined) {
    // With one scheme: a pattern for both is contained in neither of the two for all sites.
    const { protocol, hostname } = new URL(url);
    return !(await chrome.permissions.contains({ origins: [`${protocol}//${hostname}/*`] }));
  }
  const { origins = [] } = await chrome.permissions.getAll();
  return origins.length === 0;
}

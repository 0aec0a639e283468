import { builder } from './dom.ts';

const PAGES = { origins: ['http://*/*', 'https://*/*'] };

const WITHHELD =
  'The browser does not let hopwise look at pages, as somebody has chosen in its settings. Nothing is recorded.';

/** Asks for the pages where the browser withholds them; null where it does not. */
export async function pageAccess(): Promise<HTMLElement | null> {
  if (await chrome.permissions.contains(PAGES)) return null;
  const el = builder();
  const allow = el('button', { type: 'button', class: 'hw-button' }, 'Allow pages');
  const says = el('p', { class: 'hw-note', role: 'status' }, WITHHELD);
  const element = el('section', {}, says, allow);
  allow.addEventListener('click', () => {
    // At once: the browser asks only those who have clicked just now.
    const asked = chrome.permissions.request(PAGES);
    void asked.then((granted) => {
      if (!granted) return;
      allow.remove();
      says.textContent = 'hopwise may look at pages again. Reload this one to record it.';
    });
  });
  return element;
}

import { builder } from './dom.ts';

const HOST_PERMISSIONS = { origins: ['http://*/*', 'https://*/*'] };

const WITHHELD =
  'hopwise has no access to web pages, because the browser’s extension settings withhold it. Nothing is recorded.';

/** A button that requests access to web pages if the browser withholds it; null if it does not. */
export async function renderHostPermissionRequest(): Promise<HTMLElement | null> {
  if (await chrome.permissions.contains(HOST_PERMISSIONS)) return null;
  const el = builder();
  const allow = el('button', { type: 'button', class: 'hw-button' }, 'Allow access');
  const status = el('p', { class: 'hw-note', role: 'status' }, WITHHELD);
  const element = el('section', {}, status, allow);
  allow.addEventListener('click', () => {
    // Without an await before it: browsers accept the request only directly in a click handler.
    const request = chrome.permissions.request(HOST_PERMISSIONS);
    void request.then((granted) => {
      if (!granted) return;
      allow.remove();
      status.textContent = 'hopwise has access to web pages again. Reload this page to record it.';
    });
  });
  return element;
}

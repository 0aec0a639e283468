import { builder } from '../ui/dom.ts';
import { renderCheckbox, renderSection, renderStatus } from './section.ts';

const HISTORY: chrome.permissions.Permissions = { permissions: ['history'] };

const FORGETS = 'Pages that you remove from the browser’s history are erased here too.';
const KEEPS =
  'Removing a page from the browser’s history does not erase it here: without this permission, hopwise learns nothing of it. The age limit still applies.';
const LIMITS =
  'Browsers report a cleared history, but no cleared cookies, caches or site data. Nothing is ever recorded in private windows.';

/** The switch that makes hopwise forget pages which the user removes from the history. The permission is its state. */
export async function renderBrowserHistory(): Promise<HTMLElement> {
  const el = builder();
  const status = renderStatus();
  const { element, input } = renderCheckbox(
    'Forget pages that I remove from the browser’s history',
    await chrome.permissions.contains(HISTORY),
  );
  const describe = () => {
    status.textContent = input.checked ? FORGETS : KEEPS;
  };
  input.addEventListener('change', async () => {
    // Without an await before it: browsers accept a request only directly in the handler of a click.
    const changing = input.checked
      ? chrome.permissions.request(HISTORY)
      : chrome.permissions.remove(HISTORY).then(() => false);
    input.checked = await changing;
    describe();
  });
  describe();
  return renderSection('Browser history', element, status, el('p', { class: 'hw-note' }, LIMITS));
}

/** The popup's request for access to the site of the active tab. */
import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { renderSiteAccessRequest } from '../../src/popup/site-access-control.ts';

let granted: string[];
let asked: unknown[];
let answer: boolean;

beforeEach(() => {
  granted = [];
  asked = [];
  answer = true;
  vi.stubGlobal('document', new Window().document);
  vi.stubGlobal('chrome', {
    permissions: {
      contains: async ({ origins }: { origins: string[] }) => origins.every((one) => granted.includes(one)),
      getAll: async () => ({ origins: granted }),
      request: async ({ origins }: { origins: string[] }) => {
        asked.push(origins);
        return answer;
      },
    },
  });
});
afterEach(() => vi.unstubAllGlobals());

const URL_OF_TAB = 'https://www.example.org/a?b';

async function render(url?: string) {
  const element = await renderSiteAccessRequest(url);
  const buttons = () => [...element!.querySelectorAll('button')];
  return { element, buttons, words: () => buttons().map(({ textContent }) => textContent) };
}

test('offers access to the site of the tab or to all', async () => {
  const { element, buttons, words } = await render(URL_OF_TAB);
  expect(element!.textContent).toContain('hopwise has no access to www.example.org. Nothing is recorded.');
  expect(words()).toEqual(['Allow on www.example.org', 'Allow on all sites']);
  buttons()[0]!.click();
  await vi.waitFor(() => expect(words()).toEqual([]));
  expect(asked).toEqual([['*://*.www.example.org/*']]);
  expect(element!.textContent).toBe('hopwise has access now. Reload this page to record it.');
});

test('stays as it is when the user refuses', async () => {
  answer = false;
  const { buttons, words } = await render(URL_OF_TAB);
  buttons()[1]!.click();
  await vi.waitFor(() => expect(asked).toEqual([['http://*/*', 'https://*/*']]));
  expect(words()).toEqual(['Allow on www.example.org', 'Allow on all sites']);
});

test.each([
  ['the site', ['https://www.example.org/*'], URL_OF_TAB],
  ['some site, on a page of the browser', ['*://*.example.net/*'], undefined],
])('is left out with access to %s', async (_, origins, url) => {
  granted = origins;
  expect((await render(url)).element).toBeNull();
});

test('names no site on a page of the browser', async () => {
  const { element, words } = await render('chrome://version/');
  expect(element!.textContent).toBe(
    'hopwise has no access to web pages. Nothing is recorded.Allow on all sites',
  );
  expect(words()).toEqual(['Allow on all sites']);
});

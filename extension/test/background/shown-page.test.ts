import { afterEach, expect, test, vi } from 'vitest';
import { readShownPage } from '../../src/background/shown-page.ts';

afterEach(() => vi.unstubAllGlobals());

test.each([
  ['is being read', 'interactive', 0, false],
  ['has loaded', 'complete', 800, false],
  ['was stopped', 'complete', 0, true],
])('a page that %s tells whether it was stopped', async (_words, readyState, loadEventEnd, isStopped) => {
  vi.stubGlobal('document', { readyState });
  vi.stubGlobal('performance', { timeOrigin: 1e12, getEntriesByType: () => [{ loadEventEnd }] });
  vi.stubGlobal('chrome', {
    scripting: { executeScript: async ({ func }: { func: () => unknown }) => [{ result: func() }] },
  });
  expect(await readShownPage(1)).toMatchObject({ timeOrigin: 1e12, isStopped });
});

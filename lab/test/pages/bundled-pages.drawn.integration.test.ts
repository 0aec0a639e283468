import { describe, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { BUNDLED_PAGES, type BundledPage, bundledSite } from '../../src/pages/bundled.ts';
import { visitSite } from '../support/visit-site.ts';

describe('bundled pages in Chromium', () => {
  it.each(drawShare(Object.keys(BUNDLED_PAGES) as BundledPage[], 1))(
    '%s requests exactly what its site lists and fires load',
    (page) =>
      visitSite(bundledSite(page), async ({ tab, load }) => {
        const trouble: string[] = [];
        tab.on('console', (message) => message.type() === 'error' && trouble.push(message.text()));
        tab.on('pageerror', (error) => trouble.push(error.message));
        tab.on('requestfailed', (request) =>
          trouble.push(`${request.url()} ${request.failure()?.errorText}`),
        );
        await load();
        expect(trouble).toEqual([]);
        const fonts = () => tab.evaluate(() => [...new Set([...document.fonts].map(({ status }) => status))]);
        await expect.poll(fonts).toEqual(['loaded']);
        const unpainted = () =>
          tab.evaluate(() =>
            [...document.images].filter((image) => image.naturalWidth === 0).map(({ src }) => src),
          );
        await expect.poll(unpainted).toEqual([]);
      }),
  );
});

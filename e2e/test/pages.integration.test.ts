import { chromium } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromiumPath } from '../src/command/chromium.ts';
import { BUNDLED_PAGES, type BundledPage, bundledSite } from '../src/pages/bundled.ts';
import { serveSite } from './site-server.ts';

describe('bundled pages in Chromium', () => {
  it.each(Object.keys(BUNDLED_PAGES) as BundledPage[])(
    '%s requests exactly what its site lists and fires load',
    async (page) => {
      const generated = bundledSite(page);
      const server = await serveSite(generated);
      const browser = await chromium.launch({
        executablePath: chromiumPath(),
        args: [
          '--no-sandbox',
          '--disable-quic',
          '--disable-background-networking',
          `--ignore-certificate-errors-spki-list=${server.caSpki}`,
          `--host-resolver-rules=${server.resolverRules}`,
        ],
      });
      try {
        const tab = await browser.newPage({ viewport: { width: 1280, height: 900 } });
        const trouble: string[] = [];
        tab.on('console', (message) => message.type() === 'error' && trouble.push(message.text()));
        tab.on('pageerror', (error) => trouble.push(error.message));
        tab.on('requestfailed', (request) =>
          trouble.push(`${request.url()} ${request.failure()?.errorText}`),
        );
        await tab.goto(generated.site.entry, { waitUntil: 'load', timeout: 30_000 });
        await tab.waitForLoadState('networkidle');
        const listed = generated.site.resources.map(({ origin, path }) => `${new URL(origin).host} ${path}`);
        expect(server.requested.toSorted()).toEqual(listed.toSorted());
        expect(trouble).toEqual([]);
        const fonts = await tab.evaluate(() => [...document.fonts].map(({ status }) => status));
        expect(fonts.length).toBeGreaterThan(0);
        expect(new Set(fonts)).toEqual(new Set(['loaded']));
        const unpainted = await tab.evaluate(() =>
          [...document.images].filter((image) => image.naturalWidth === 0).map(({ src }) => src),
        );
        expect(unpainted).toEqual([]);
      } finally {
        await browser.close();
        await server.close();
      }
    },
  );
});

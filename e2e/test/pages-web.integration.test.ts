import { chromium } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromiumPath } from '../src/command/chromium.ts';
import { generateSite, type SiteSpec } from '../src/pages/generate.ts';
import { webPageSpec } from '../src/pages/web-pages.ts';
import { serveSite } from './site-server.ts';

/** A page of each kind, and the smallest and a large one of the published percentiles. */
const NAMES = ['web-0', 'web-1', 'web-2', 'web-p10', 'web-p75'];

describe('pages drawn from the published distribution, in Chromium', () => {
  it.each(NAMES)(
    '%s requests exactly what its site lists',
    async (name) => {
      const generated = generateSite(webPageSpec(name) as SiteSpec);
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
        await tab.goto(generated.site.entry, { waitUntil: 'load', timeout: 60_000 });
        await tab.waitForLoadState('networkidle');
        const listed = generated.site.resources.map(({ origin, path }) => `${new URL(origin).host} ${path}`);
        expect(server.requested.toSorted()).toEqual(listed.toSorted());
      } finally {
        await browser.close();
        await server.close();
      }
    },
    120_000,
  );
});

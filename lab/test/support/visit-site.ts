/** Loads a generated site in Chromium from loopback. */
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { chromiumPath } from '../../src/browser/chromium.ts';
import { CHROMIUM_ARGS } from '../../src/loads/protocol-args.ts';
import type { GeneratedSite } from '../../src/sites/write-site.ts';
import { type SiteServer, serveSite } from './site-server.ts';

export interface Visit {
  tab: Page;
  /** Loads the page and waits until exactly what its site lists has been requested, each once. */
  load(): Promise<void>;
}

export async function visitSite(
  generated: GeneratedSite,
  look: (visit: Visit) => Promise<void>,
): Promise<void> {
  const { site } = generated;
  let server: SiteServer | undefined;
  let browser: Browser | undefined;
  try {
    server = await serveSite(generated);
    browser = await chromium.launch({
      executablePath: chromiumPath(),
      args: [
        ...CHROMIUM_ARGS,
        '--disable-quic',
        `--ignore-certificate-errors-spki-list=${server.caSpki}`,
        `--host-resolver-rules=${server.resolverRules}`,
      ],
    });
    const tab = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const { requested } = server;
    const listed = site.resources.map(({ origin, path }) => `${new URL(origin).host} ${path}`).toSorted();
    const load = async () => {
      await tab.goto(site.entry, { waitUntil: 'load', timeout: 60_000 });
      await tab.waitForLoadState('networkidle');
      // On a busy machine a page may pause for as long as an idle, completed one.
      await expect.poll(() => requested.toSorted(), { timeout: 60_000 }).toEqual(listed);
    };
    await look({ tab, load });
  } finally {
    await browser?.close();
    await server?.close();
  }
}

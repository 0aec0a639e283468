import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { type ExtensionBrowser, launch } from '../browser.ts';
import type { TestHost } from './host.ts';
import { HOST } from './pinned-host.ts';
import { publicKeyHash } from './public-key-hash.ts';

/** The built extension, to be loaded by Chromium. */
export const EXTENSION = fileURLToPath(new URL('../../dist/chromium', import.meta.url));

/** Chromium with the extension, which may pin. */
export interface PinningChromium {
  browser: ExtensionBrowser;
  /** A page of the extension that speaks for the tests. */
  own: Page;
  page: Page;
}

/**
 * @param port of this machine, at which it finds every host below `lab.test`, and whose HTTP/3 it uses
 * @param env as it is where not that of the host
 */
export async function launchToPin(
  port: number,
  host: TestHost,
  env: Record<string, string> = {},
): Promise<PinningChromium> {
  const browser = await launch(
    EXTENSION,
    [
      '--host-resolver-rules=MAP *.lab.test 127.0.0.1',
      `--ignore-certificate-errors-spki-list=${await publicKeyHash(port)}`,
      // Chromium has no HTTP/3 with a CA of one's own, unless it is forced somewhere: here where nobody asks.
      `--origin-to-force-quic-on=${HOST}:9`,
    ],
    [],
    { ...host.env, ...env },
  );
  const own = await browser.openOwn('devtools.html');
  await allowPins(own);
  return { browser, own, page: await browser.context.newPage() };
}

/** Gives the permissions that pins need, from a page of the extension. */
export async function allowPins(own: Page): Promise<void> {
  const granted = await own.evaluate(() =>
    chrome.permissions.request({
      permissions: chrome.runtime.getManifest().optional_permissions as chrome.runtime.ManifestPermission[],
    }),
  );
  if (!granted) throw new Error('Chromium did not give the permissions of pins');
}

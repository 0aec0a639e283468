import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { type ExtensionBrowser, launch } from '../support/browser.ts';
import type { TestHost } from './host.ts';
import { HOST } from './pinned-host.ts';
import { publicKeyHash } from './public-key-hash.ts';

/** The built extension for Chromium. */
export const EXTENSION = fileURLToPath(new URL('../../dist/chromium', import.meta.url));

/** Chromium with the extension as it ships, which has the permissions for pins. */
export interface PinningChromium {
  browser: ExtensionBrowser;
  /** A page of the extension through which the tests send messages. */
  own: Page;
  page: Page;
}

/**
 * @param port port on this machine at which it reaches every host below `lab.test`, and with which it uses HTTP/3
 * @param env environment; defaults to that of the host
 * @param hosts hosts with which it uses HTTP/3
 */
export async function launchToPin(
  port: number,
  host: TestHost,
  env: Record<string, string> = {},
  hosts: readonly string[] = [HOST],
): Promise<PinningChromium> {
  const browser = await launch(
    EXTENSION,
    [
      '--host-resolver-rules=MAP *.lab.test 127.0.0.1',
      `--ignore-certificate-errors-spki-list=${await publicKeyHash(port)}`,
      // Chromium uses HTTP/3 with a private CA only at hosts for which QUIC is forced: here for ports without requests.
      `--origin-to-force-quic-on=${hosts.map((host) => `${host}:9`).join(',')}`,
    ],
    [],
    { ...host.env, ...env },
    'en-US',
    false,
  );
  const own = await browser.openOwn('devtools.html');
  await allowPins(own);
  return { browser, own, page: await browser.context.newPage() };
}

/** Grants the permissions that pins need, from a page of the extension. */
export async function allowPins(own: Page): Promise<void> {
  const granted = await own.evaluate(() => chrome.permissions.request({ permissions: ['browsingData'] }));
  if (!granted) throw new Error('Chromium did not give the permissions of pins');
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { FirefoxBrowser, makeProfile } from './firefox.ts';

const built = fileURLToPath(new URL('../../dist/firefox', import.meta.url));

/** Starts Firefox with the extension as it ships, in a profile of its own, until the test has finished. */
export async function launchForTest(): Promise<FirefoxBrowser> {
  const home = await mkdtemp(join(tmpdir(), 'hopwise-firefox-'));
  // The browser may still write to it while it exits.
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  makeProfile(home, { trusted: [] });
  const browser = await FirefoxBrowser.launch(built, home, {});
  onTestFinished(() => browser.close());
  return browser;
}

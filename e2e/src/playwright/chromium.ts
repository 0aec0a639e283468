/** Which Chromium the fixtures drive. */
import { existsSync } from 'node:fs';
import { chromiumPath } from '@hopwise/lab/browser/chromium';
import { ReplayError } from './errors.ts';

/**
 * `launchOptions.executablePath` of the configuration, else `HOPWISE_CHROMIUM`, else Debian's, else the one that
 * `npx playwright install chromium` has brought.
 *
 * @param playwrights where that would be
 * @throws ReplayError saying how to get one
 */
export function replayChromium(configured: string | undefined, playwrights: string): string {
  if (configured) {
    if (existsSync(configured)) return configured;
    throw new ReplayError(`launchOptions.executablePath names ${configured}, which is not there`);
  }
  try {
    return chromiumPath();
  } catch (error) {
    if (!process.env.HOPWISE_CHROMIUM && existsSync(playwrights)) return playwrights;
    if (process.env.HOPWISE_CHROMIUM) throw new ReplayError(error);
    throw new ReplayError(
      'Chromium is not installed: apt install chromium, or set HOPWISE_CHROMIUM to its path',
    );
  }
}

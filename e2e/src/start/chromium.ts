import { existsSync } from 'node:fs';
import { UserError } from './errors.ts';

/** Debian's Chromium. Chrome itself takes no unpacked extension from the command line any more. */
const KNOWN_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];

/**
 * Path of the Chromium to drive: `HOPWISE_CHROMIUM`, else Debian's.
 *
 * @throws UserError saying how to get one
 */
export function chromiumPath(): string {
  const named = process.env.HOPWISE_CHROMIUM;
  if (named !== undefined) {
    if (existsSync(named)) return named;
    throw new UserError(
      `HOPWISE_CHROMIUM names ${named}, which is not there: set it to the path of a Chromium`,
    );
  }
  const found = KNOWN_PATHS.find((path) => existsSync(path));
  if (!found)
    throw new UserError('Chromium is not installed: npm run setup, or set HOPWISE_CHROMIUM to its path');
  return found;
}

import { existsSync } from 'node:fs';
import { UserError } from '../command/errors.ts';

/** Debian's Chromium. Chrome itself takes no unpacked extension from the command line any more. */
const KNOWN_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];

/**
 * Path of the Chromium to drive: `HOPWISE_CHROMIUM`, else Debian's.
 *
 * @throws UserError saying how to get one
 */
export function chromiumPath(): string {
  const named = process.env.HOPWISE_CHROMIUM;
  if (named) {
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

/** @throws UserError where a window cannot be shown */
export function requireDisplay(): void {
  if (process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY) return;
  throw new UserError(
    '--headed: there is no display to show Chromium on (DISPLAY is not set): leave --headed out',
    2,
  );
}

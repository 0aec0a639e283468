/** Which Chromium makes the loads. */
import { existsSync } from 'node:fs';
import { UserError } from '../command/errors.ts';
import { chromiumPath } from './chromium.ts';

/** The headless shell (`chromium-headless-shell`) or the full browser. */
export type BrowserKind = 'headless-shell' | 'full';

/** Debian's. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';

/**
 * Path of the program: `HOPWISE_HEADLESS_SHELL` or `HOPWISE_CHROMIUM` where set, else Debian's.
 *
 * @throws UserError saying in one line how to get it
 */
export function browserProgram(kind: BrowserKind): string {
  if (kind === 'full') return chromiumPath();
  const named = process.env.HOPWISE_HEADLESS_SHELL;
  if (named && !existsSync(named)) {
    throw new UserError(
      `HOPWISE_HEADLESS_SHELL names ${named}, which is not there: set it to the path of a chrome-headless-shell`,
    );
  }
  if (!named && !existsSync(HEADLESS_SHELL)) {
    throw new UserError(
      'the headless shell is not installed: apt install chromium-headless-shell, or set HOPWISE_HEADLESS_SHELL to its path',
    );
  }
  return named || HEADLESS_SHELL;
}

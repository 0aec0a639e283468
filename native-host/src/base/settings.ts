/** Settings that the command line makes, for all browsers of the user. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { launcherCommand } from './launcher.ts';
import { dataDirectory } from './paths.ts';
import { replaceFile } from './replace-file.ts';

const settings = z.object({
  version: z.literal(1),
  /** Resolver for DNS over HTTPS (RFC 8484); absent for the system's resolver. */
  dohUrl: z.optional(z.string().check(z.refine(isDohUrl, 'expected an https URL'))),
});

export function settingsFile(): string {
  return join(dataDirectory(), 'settings.json');
}

/** An https URL without credentials and fragment. */
export function isDohUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return protocol === 'https:' && username + password + hash === '';
}

/**
 * URL of the resolver for DNS over HTTPS; '' for the system's resolver.
 *
 * @throws Error in one line when the file is invalid: names must not be resolved in another way than the user has chosen
 */
export function readDohUrl(): string {
  let text: string;
  try {
    text = readFileSync(settingsFile(), 'utf8');
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw fault;
  }
  try {
    return settings.parse(JSON.parse(text)).dohUrl ?? '';
  } catch {
    throw new Error(
      `${settingsFile()} is no valid settings file: remove it, or run ${launcherCommand('resolver')} again`,
    );
  }
}

/** @param url '' for the system's resolver. @throws the error of `node:fs` */
export function writeDohUrl(url: string): void {
  replaceFile(settingsFile(), `${JSON.stringify({ version: 1, ...(url && { dohUrl: url }) })}\n`, 'public');
}

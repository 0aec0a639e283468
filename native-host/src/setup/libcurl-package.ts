/** The Debian package that a private copy of libcurl was made from. */

import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DAY_MS } from '@hopwise/contract';
import * as z from 'zod/mini';
import { privateFolder } from '../curl/candidates.ts';

const RECORD = 'hopwise-package.json';

/** curl is released every eight weeks (curl.se/docs/releases.html), and most releases fix a vulnerability. */
export const MAX_AGE_DAYS = 90;

const recordSchema = z.object({
  version: z.string().check(z.maxLength(128)),
  released: z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/)),
});

export interface LibcurlPackage {
  /** Debian's version. */
  version: string;
  /** Day of the package's release, `YYYY-MM-DD`; '' for copies of a hopwise-host that did not record it. */
  released: string;
}

/** Records the package in a finished copy. */
export async function recordPackage(folder: string, { version, released }: LibcurlPackage): Promise<void> {
  await writeFile(join(folder, RECORD), `${JSON.stringify({ version, released })}\n`);
}

/** @returns the package of the private copy that holds the library at `path`; null for any other library. */
export function packageOf(path: string): LibcurlPackage | null {
  const folder = dirname(path);
  if (dirname(folder) !== privateFolder()) return null;
  try {
    return recordSchema.parse(JSON.parse(readFileSync(join(folder, RECORD), 'utf8')));
  } catch {
    return { version: basename(folder), released: '' };
  }
}

/** One line: version, day of release and age in days. */
export function packageLine(libcurl: LibcurlPackage, nowMs = Date.now()): string {
  const { version, released } = libcurl;
  const days = ageDays(libcurl, nowMs);
  if (days === null) return `Debian package ${version}, release date not recorded`;
  return `Debian package ${version} of ${released}, ${days} ${days === 1 ? 'day' : 'days'} old`;
}

/** Whether its release is so long ago that it probably lacks security fixes; false where the release is not known. */
export function isOutdated(libcurl: LibcurlPackage, nowMs = Date.now()): boolean {
  return (ageDays(libcurl, nowMs) ?? 0) > MAX_AGE_DAYS;
}

function ageDays({ released }: LibcurlPackage, nowMs: number): number | null {
  return released === '' ? null : Math.max(0, Math.floor((nowMs - Date.parse(released)) / DAY_MS));
}

/** Whether Debian offers a newer version of the package that the private libcurl was made from. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { compareDebianVersions } from '../base/debian-version.ts';
import { osRelease } from '../base/install-hints.ts';
import { launcherCommand } from '../base/launcher.ts';
import { BackportsApt } from './apt.ts';
import type { LibcurlPackage } from './libcurl-package.ts';

export const PACKAGE = 'libcurl3-gnutls';

export interface UpdateCheck {
  /** `unchecked`: Debian could not be asked, see `problem`. */
  state: 'current' | 'newer' | 'unchecked';
  /** The newer version; '' for none. */
  version: string;
  /** Why Debian could not be asked, in one line; '' when it could. */
  problem: string;
}

/** Package lists take a second or two; without a network apt gives up by itself, mostly at once. */
const TIMEOUT_MS = 30_000;

/** @param offered returns the versions on offer; by default asks Debian's backports. It never throws. */
export async function checkForUpdate(
  { version }: LibcurlPackage,
  offered: () => Promise<string[]> = offeredVersions,
): Promise<UpdateCheck> {
  try {
    const newest = (await offered()).sort(compareDebianVersions).at(-1);
    if (newest === undefined) throw new Error(`Debian's backports offer no ${PACKAGE}`);
    if (compareDebianVersions(newest, version) <= 0) return { state: 'current', version: '', problem: '' };
    return { state: 'newer', version: newest, problem: '' };
  } catch (fault) {
    return { state: 'unchecked', version: '', problem: firstLine(fault) };
  }
}

/** One line. */
export function updateLine({ state, version, problem }: UpdateCheck): string {
  if (state === 'newer') return `${version} is available`;
  return state === 'current' ? "newest of Debian's backports" : `not checked: ${problem}`;
}

/** What to do about an update; '' for nothing. */
export function updateFix({ state }: UpdateCheck): string {
  return state === 'newer' ? `run: ${launcherCommand('setup --update')}` : '';
}

/** What to do about a libcurl that is too old, given the result of `checkForUpdate`, if there was one. */
export function replacementFix(update: UpdateCheck | null): string {
  if (update?.state !== 'current') return `run: ${launcherCommand('setup --update')}`;
  return "Debian's backports have none newer: upgrade to Debian 13, or set HOPWISE_LIBCURL to the path of a newer one";
}

async function offeredVersions(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'hopwise-update-'));
  try {
    const suite = osRelease().codename;
    const apt = await BackportsApt.open({ suite, folder, timeoutMs: TIMEOUT_MS, log: () => {} });
    return await apt.versions(PACKAGE);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

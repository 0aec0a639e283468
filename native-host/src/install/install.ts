/** Registers the host with browsers, and undoes it. All files are the user's own: no root is needed. */
import { execFile } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { mkdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { isOutOfRoom } from '@hopwise/contract/command-line';
import { LAUNCHER_VARIABLE, launcherName, launcherPath, shellQuote } from '../base/launcher.ts';
import { HEAP_ARGUMENTS, MALLOC_SETTINGS } from '../base/memory-settings.ts';
import { configDirectory, dataDirectory, packageFolder } from '../base/paths.ts';
import { type Browser, browsers, profileBrowser } from './browsers.ts';
import { checkIds, type ExtensionIds, manifest } from './manifest.ts';

const run = promisify(execFile);

export interface InstallOptions {
  ids: ExtensionIds;
  /** Absolute path of the program that browsers start, and Node's arguments before it. */
  script: string;
  nodeArguments?: string[];
  /** Register in this Chromium profile folder only, and put the launcher there. */
  userDataDirectory?: string;
  /** Only these; by default every browser that this user has, or all when none is found. */
  browsers?: Browser['id'][];
}

export interface Installed {
  browser: string;
  manifestFile: string;
}

/** Path of the launcher that manifests point to. A package has it already. */
export function launcherFile(userDataDirectory?: string): string {
  return userDataDirectory && !packageFolder()
    ? join(resolve(userDataDirectory), 'NativeMessagingHosts', launcherName())
    : launcherPath();
}

/** The browsers that a command applies to: those of this user, else those that a package registered the host with, else all. */
export function chosenBrowsers(options: Pick<InstallOptions, 'userDataDirectory' | 'browsers'>): Browser[] {
  if (options.userDataDirectory) return [profileBrowser(resolve(options.userDataDirectory))];
  const all = browsers();
  if (options.browsers) return all.filter(({ id }) => options.browsers!.includes(id));
  const registered = all.filter(
    ({ systemManifestFile }) => systemManifestFile !== '' && existsSync(systemManifestFile),
  );
  return [all.filter(isPresent), registered].find((some) => some.length > 0) ?? all;
}

function isPresent({ profileFolders }: Browser): boolean {
  return profileFolders.some((folder) => existsSync(folder));
}

/**
 * Writes the launcher and a manifest for each browser, and replaces those of an earlier install.
 *
 * @throws UsageError for an impossible extension id; Error in one line, with the fix, for a folder that cannot be written.
 */
export async function install(options: InstallOptions): Promise<Installed[]> {
  checkIds(options.ids);
  const launcher = launcherFile(options.userDataDirectory);
  const text = launcherText(launcher, [...HEAP_ARGUMENTS, ...(options.nodeArguments ?? []), options.script]);
  if (!packageFolder()) await writeWhole(launcher, text, 0o755);
  const installed: Installed[] = [];
  for (const browser of chosenBrowsers(options)) {
    const json = `${JSON.stringify(manifest(browser, launcher, options.ids), null, 2)}\n`;
    await writeWhole(browser.manifestFile, json, 0o644);
    if (browser.registryKey) {
      await run('reg', ['add', browser.registryKey, '/ve', '/t', 'REG_SZ', '/d', browser.manifestFile, '/f']);
    }
    installed.push({ browser: browser.name, manifestFile: browser.manifestFile });
  }
  return installed;
}

/**
 * Removes what `install` wrote, by default for every browser. Files that browsers outside the selection also use stay.
 *
 * @returns the files that were removed.
 * @throws Error in one line, with the fix, for a file that cannot be removed, after removing all others.
 */
export async function uninstall(
  options: Pick<InstallOptions, 'userDataDirectory' | 'browsers'> = {},
): Promise<string[]> {
  const everywhere = !options.userDataDirectory && !options.browsers;
  const chosen = everywhere ? browsers() : chosenBrowsers(options);
  const others = browsers().filter(
    (browser) => isPresent(browser) && !chosen.some(({ id }) => id === browser.id),
  );
  const left = chosen.filter(
    ({ manifestFile }) => !others.some((other) => other.manifestFile === manifestFile),
  );
  for (const { registryKey } of left) {
    if (registryKey) await run('reg', ['delete', registryKey, '/f']).catch(() => {});
  }
  const files = left.map(({ manifestFile }) => manifestFile);
  // With some browsers named, others may still point at the launcher.
  if (!packageFolder() && (everywhere || options.userDataDirectory))
    files.push(launcherFile(options.userDataDirectory));
  const removed: string[] = [];
  const faults: Error[] = [];
  for (const file of new Set(files)) {
    // Also a link that leads nowhere.
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) continue;
    try {
      await withFix(file, () => rm(file));
      removed.push(file);
      await removeEmptyFolders(dirname(file));
    } catch (fault) {
      faults.push(fault as Error);
    }
  }
  if (faults[0]) throw faults[0];
  return removed;
}

function launcherText(launcher: string, nodeArguments: string[]): string {
  const words = [process.execPath, ...nodeArguments];
  if (process.platform === 'win32') {
    return `@echo off\r\nsetlocal\r\nset "${LAUNCHER_VARIABLE}=%~f0"\r\n${words.map((word) => `"${word.replaceAll('%', '%%')}"`).join(' ')} %*\r\n`;
  }
  const variables = { ...MALLOC_SETTINGS, [LAUNCHER_VARIABLE]: shellQuote(launcher) };
  const settings = Object.entries(variables).map(([name, value]) => `export ${name}=${value}\n`);
  // Browsers start programs with a minimal environment: all paths are absolute.
  return `#!/bin/sh\n${settings.join('')}exec ${words.map(shellQuote).join(' ')} "$@"\n`;
}

/** Writes a file atomically. */
async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  await withFix(path, async () => {
    await createFolder(dirname(path));
    try {
      // Where others can write, it may be a link of theirs.
      await rm(draft, { force: true });
      await writeFile(draft, text, { mode, flag: 'wx' });
      await rename(draft, path);
    } catch (fault) {
      await rm(draft, { force: true });
      throw fault;
    }
  });
}

/**
 * Creates a folder and those above it. Unlike Node 24's recursive `mkdir` it ends where the system reports ENOENT below a folder
 * that exists, as `/proc` does. Other users cannot write to the folders, whatever the umask.
 */
async function createFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, 0o755);
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(folder))) throw fault;
    await createFolder(dirname(folder));
    await mkdir(folder, 0o755);
  }
}

/** @throws Error with the fix when the system does not permit the change of `path` */
async function withFix(path: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code === undefined) throw fault;
    throw new Error(`${path} cannot be changed (${code}): ${fixFor(code, dirname(path))}`);
  }
}

/** What lets a file in `folder` be changed, where the system refused it with `code`. */
export function fixFor(code: string, folder: string): string {
  if (isOutOfRoom({ code })) return 'make room on its disk';
  return ['EACCES', 'EPERM', 'EROFS'].includes(code)
    ? `make ${folder} writable`
    : `${folder} has to be a folder, or a path at which one can be created`;
}

/** Removes `folder` and the folders above it that `install` may have created, if they are empty. */
async function removeEmptyFolders(folder: string): Promise<void> {
  const kept = [homedir(), configDirectory(), dirname(dataDirectory())];
  for (let at = folder; !kept.includes(at) && dirname(at) !== at; at = dirname(at)) {
    try {
      await rmdir(at);
    } catch {
      return;
    }
  }
}

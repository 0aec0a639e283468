/** The folder of an installed helper: Node, the helper with its packages, and libcurl. */
import { chmod, copyFile, cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LAUNCHER_VARIABLE } from '../../native-host/src/base/launcher.ts';
import { HEAP_ARGUMENTS, MALLOC_SETTINGS } from '../../native-host/src/base/memory-settings.ts';
import { downloadLibcurl, unpackLibcurl } from './libcurl.ts';
import { fetchPackage, type Lock, readLock, runtimeDependencies } from './npm-packages.ts';
import { type Architecture, NODE_ARCHITECTURE } from './release.ts';

interface TreeOptions {
  root: string;
  architecture: Architecture;
  /** Keeps downloads. */
  cache: string;
  log: (line: string) => void;
}

/** What packages hold besides the files that run: types, sources, documents. */
const NOT_RUN = /\.(map|md|[cm]?ts|tsbuildinfo|cc|hh|h|S|asm)$/;
const NOT_RUN_FOLDERS = /\/node_modules\/(koffi\/(vendor|doc)|zod\/src|@koromix\/[^/]+\/musl_[^/]+)$/;

/** Starts the helper from the folder that it is in, also by way of symbolic links. */
export function launcherScript(): string {
  const settings = Object.entries(MALLOC_SETTINGS).map(([name, value]) => `export ${name}=${value}`);
  return [
    '#!/bin/sh',
    'HOPWISE_PACKAGE=$(dirname "$(dirname "$(readlink -f "$0")")")',
    'export HOPWISE_PACKAGE',
    `case $0 in /*) ${LAUNCHER_VARIABLE}=$0 ;; *) ${LAUNCHER_VARIABLE}=$HOPWISE_PACKAGE/bin/hopwise-host ;; esac`,
    `export ${LAUNCHER_VARIABLE}`,
    ...settings,
    `exec "$HOPWISE_PACKAGE/bin/node" ${HEAP_ARGUMENTS.join(' ')} "$HOPWISE_PACKAGE/native-host/bin/hopwise-host.mjs" "$@"`,
    '',
  ].join('\n');
}

/**
 * Writes the tree to `target`.
 *
 * @returns the Debian packages of the system's libraries that it needs
 */
export async function buildTree(target: string, options: TreeOptions): Promise<string[]> {
  const { root, architecture, cache, log } = options;
  const lock = readLock(root);
  const suffix = `linux-${NODE_ARCHITECTURE[architecture]}`;
  const libcurl = await downloadLibcurl(architecture, cache, log);
  await copyHost(root, lock, target);
  await copyKoffi(lock, suffix, cache, target);
  const node = await fetchPackage(lock, `node-${suffix}`, cache);
  await mkdir(join(target, 'bin'), { recursive: true });
  await copyFile(join(node, 'bin/node'), join(target, 'bin/node'));
  await copyFile(join(node, 'LICENSE'), join(target, 'bin/node.LICENSE'));
  await writeFile(join(target, 'bin/hopwise-host'), launcherScript());
  await copyFile(join(root, 'LICENSE'), join(target, 'LICENSE'));
  await unpackLibcurl(libcurl, join(target, 'libcurl'));
  await unifyModes(target);
  // Node's binary needs these; koffi and libcurl need no more.
  return [
    'libc6 (>= 2.34)',
    'libgcc-s1',
    'libstdc++6 (>= 12)',
    ...libcurl.depends.filter((one) => !/^libc6 /.test(one)),
  ];
}

/** Copies the built helper and the npm packages that it needs on every machine. */
export async function copyHost(root: string, lock: Lock, target: string): Promise<void> {
  for (const part of ['bin/hopwise-host.mjs', 'dist', 'package.json'])
    await copyRunFiles(join(root, 'native-host', part), join(target, 'native-host', part));
  for (const name of runtimeDependencies(lock, 'native-host')) {
    const own = name.startsWith('@hopwise/') ? name.slice('@hopwise/'.length) : null;
    const to = join(target, 'node_modules', name);
    if (own === null) await copyRunFiles(join(root, 'node_modules', name), to);
    else
      for (const part of ['dist', 'package.json']) await copyRunFiles(join(root, own, part), join(to, part));
  }
}

/** @param machine Node's names of system and architecture, such as `linux-x64` */
export async function copyKoffi(lock: Lock, machine: string, cache: string, target: string): Promise<void> {
  const koffi = await fetchPackage(lock, `@koromix/koffi-${machine}`, cache);
  await copyRunFiles(koffi, join(target, 'node_modules/@koromix', `koffi-${machine}`));
}

async function copyRunFiles(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  const filter = (file: string): boolean => !NOT_RUN.test(file) && !NOT_RUN_FOLDERS.test(file);
  await cp(from, to, { recursive: true, filter });
}

/** Files readable by all, executable only what is started. */
export async function unifyModes(target: string): Promise<void> {
  for (const entry of await readdir(target, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isStarted = basename(entry.parentPath) === 'bin' && ['node', 'hopwise-host'].includes(entry.name);
    await chmod(path, entry.isDirectory() || isStarted ? 0o755 : 0o644);
  }
  await chmod(target, 0o755);
}

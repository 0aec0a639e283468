/**
 * The helper for macOS and Windows, with installers that have run on neither: this checkout is developed on Linux. They need
 * Node of the machine, and a libcurl with HTTP/3, which the helper's `doctor` says how to get.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIN_NODE } from '@hopwise/contract';
import { copyHost, copyKoffi, unifyModes } from './helper-tree.ts';
import { readLock } from './npm-packages.ts';
import type { Release } from './release.ts';
import { packFolder, REPLACE_FOLDER } from './tarball.ts';
import { writeZip } from './zip.ts';

/** Node's names of the machines that a package is for. */
const UNTRIED_SYSTEMS = {
  macos: ['darwin-arm64', 'darwin-x64'],
  windows: ['win32-arm64', 'win32-x64'],
} as const;

interface UntriedOptions {
  root: string;
  /** Keeps downloads. */
  cache: string;
  target: string;
  release: Release;
}

/** @returns the paths of a tarball for macOS and a zip for Windows */
export async function buildUntriedPackages(options: UntriedOptions): Promise<string[]> {
  const { target, release } = options;
  const work = await mkdtemp(join(tmpdir(), 'hopwise-untried-'));
  try {
    const macos = await writeTree(work, 'macos', options);
    await writeScript(join(macos, 'install.sh'), macosInstaller());
    await writeScript(join(macos, 'uninstall.sh'), macosUninstaller());
    const windows = await writeTree(work, 'windows', options);
    await writeFile(join(windows, 'install.ps1'), windowsInstaller());
    await writeFile(join(windows, 'uninstall.ps1'), windowsUninstaller());
    const zip = join(target, `hopwise-host-${release.version}-windows.zip`);
    await mkdir(target, { recursive: true });
    await writeZip(windows, zip);
    return [await packFolder(macos, target, release), zip];
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function writeTree(
  work: string,
  system: keyof typeof UNTRIED_SYSTEMS,
  { root, cache, release }: UntriedOptions,
): Promise<string> {
  const folder = join(work, `hopwise-host-${release.version}-${system}`);
  const lock = readLock(root);
  await copyHost(root, lock, folder);
  for (const machine of UNTRIED_SYSTEMS[system]) await copyKoffi(lock, machine, cache, folder);
  await unifyModes(folder);
  return folder;
}

async function writeScript(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o755);
}

const CHECK_NODE = `process.exit(Number(process.versions.node.split('.')[0]) < ${MIN_NODE} ? 1 : 0)`;
const HOST = 'native-host/bin/hopwise-host.mjs';

/** `readlink -f` is missing from macOS before 12.3. */
const MACOS_FOLDER = 'folder="$HOME/Library/Application Support/hopwise/helper"';

/** Registers the helper with the browsers found by manifests below `~/Library`: no launch agent runs in the background. */
export function macosInstaller(): string {
  return [
    '#!/bin/sh',
    '# Installs the hopwise helper for this user and registers it with the browsers found. Not yet tried on a Mac.',
    'set -eu',
    MACOS_FOLDER,
    'here=$(cd "$(dirname "$0")" && pwd -P)',
    `if ! node -e "${CHECK_NODE}" 2> /dev/null; then`,
    `  echo "expected Node ${MIN_NODE} or later on the PATH: install it, then run this again" >&2`,
    '  exit 1',
    'fi',
    'mkdir -p "$(dirname "$folder")"',
    ...REPLACE_FOLDER,
    `node "$folder/${HOST}" install`,
    '',
  ].join('\n');
}

export function macosUninstaller(): string {
  return [
    '#!/bin/sh',
    '# Removes the hopwise helper of this user; with --all also its local CA, log and settings.',
    'set -eu',
    MACOS_FOLDER,
    `node "$folder/${HOST}" uninstall "$@"`,
    'rm -rf "$folder"',
    '',
  ].join('\n');
}

const WINDOWS_FOLDER = "$folder = Join-Path $env:LOCALAPPDATA 'hopwise\\helper'";

/** PowerShell 5.1, which Windows has. A native program's failure is no exception there, so each is checked. */
export function windowsInstaller(): string {
  return windowsScript([
    '# Installs the hopwise helper for this user and registers it with the browsers found, under HKEY_CURRENT_USER.',
    '# Not yet tried on Windows.',
    "$ErrorActionPreference = 'Stop'",
    WINDOWS_FOLDER,
    '$node = Get-Command node -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1',
    `if ($node) { & $node.Source -e "${CHECK_NODE}" }`,
    'if (-not $node -or $LASTEXITCODE -ne 0) {',
    `  throw 'expected Node ${MIN_NODE} or later on the PATH: install it, then run this again'`,
    '}',
    'if (Test-Path -LiteralPath $folder) { Remove-Item -LiteralPath $folder -Recurse -Force }',
    'New-Item -ItemType Directory -Path (Split-Path $folder) -Force | Out-Null',
    'Copy-Item -LiteralPath $PSScriptRoot -Destination $folder -Recurse',
    `& $node.Source (Join-Path $folder '${HOST}') install`,
    "if ($LASTEXITCODE -ne 0) { throw 'the helper is copied, but not registered' }",
  ]);
}

export function windowsUninstaller(): string {
  return windowsScript([
    '# Removes the hopwise helper of this user; with --all also its local CA, log and settings.',
    "$ErrorActionPreference = 'Stop'",
    WINDOWS_FOLDER,
    `& node (Join-Path $folder '${HOST}') uninstall @args`,
    "if ($LASTEXITCODE -ne 0) { throw 'the helper is still registered' }",
    'Remove-Item -LiteralPath $folder -Recurse -Force',
  ]);
}

const windowsScript = (lines: readonly string[]): string => `${lines.join('\r\n')}\r\n`;

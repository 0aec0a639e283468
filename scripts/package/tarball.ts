/** The helper as a tarball for users without root: `install.sh` copies it below `~/.local` and registers it with browsers. */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Architecture, Release } from './release.ts';

const run = promisify(execFile);

interface Tarball {
  /** From `buildTree`. */
  tree: string;
  /** Debian packages of the system's libraries that it needs, as in a control file. */
  depends: readonly string[];
  architecture: Architecture;
  release: Release;
  target: string;
}

/**
 * Packs a tree with its installer: the same tree gives the same bytes.
 *
 * @returns the path of the tarball
 */
export async function buildTarball({
  tree,
  depends,
  architecture,
  release,
  target,
}: Tarball): Promise<string> {
  const name = `hopwise-host-${release.version}-linux-${architecture}`;
  const work = await mkdtemp(join(tmpdir(), 'hopwise-tar-'));
  try {
    await cp(tree, join(work, name), { recursive: true });
    for (const [file, text] of [
      ['install.sh', installScript()],
      ['uninstall.sh', uninstallScript()],
    ] as const) {
      await writeFile(join(work, name, file), text);
      await chmod(join(work, name, file), 0o755);
    }
    await writeFile(join(work, name, 'README'), readme(depends), { mode: 0o644 });
    return await packFolder(join(work, name), target, release);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Packs a folder as `target/NAME.tar.gz`: the same files give the same bytes. @returns its path */
export async function packFolder(folder: string, target: string, { epochSeconds }: Release): Promise<string> {
  const name = basename(folder);
  const file = join(target, `${name}.tar.gz`);
  await mkdir(target, { recursive: true });
  const same = ['--sort=name', `--mtime=@${epochSeconds}`, '--owner=0', '--group=0', '--numeric-owner'];
  const words = ['-C', dirname(folder), ...same, '--use-compress-program=gzip -9n', '-cf', file, name];
  await run('tar', words);
  return file;
}

/** Where the scripts install; `HOPWISE_PREFIX` is for other places. What they call is the system's, whatever else is on the PATH. */
const PLACES = [
  'set -eu',
  'umask 022',
  'path=$PATH',
  'PATH=/usr/bin:/bin:$PATH',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is shell syntax.
  'prefix=${HOPWISE_PREFIX:-$HOME/.local}',
  'folder=$prefix/lib/hopwise',
  'link=$prefix/bin/hopwise-host',
  'fail() { echo "$1" >&2; exit 1; }',
  'case $prefix in /*) ;; *) fail "HOPWISE_PREFIX: expected an absolute path, got $prefix" ;; esac',
  'if { [ -L "$folder" ] || [ -e "$folder" ]; } && [ ! -x "$folder/bin/hopwise-host" ]; then',
  '  fail "$folder is not the helper: move it away first"',
  'fi',
];

/** Puts a copy of the folder `$here` into the place of `$folder`: interrupted, it leaves the former one. */
export const REPLACE_FOLDER = [
  'rm -rf "$folder.new" "$folder.old"',
  `trap 'rm -rf "$folder.new"; [ -e "$folder" ] || [ ! -e "$folder.old" ] || mv "$folder.old" "$folder"' EXIT`,
  "trap 'exit 1' HUP INT TERM",
  'cp -R "$here" "$folder.new"',
  '[ ! -e "$folder" ] || mv "$folder" "$folder.old"',
  'mv "$folder.new" "$folder"',
  'rm -rf "$folder.old"',
];

/** Copies the folder that it is in, so that this one may be deleted. */
export function installScript(): string {
  return [
    '#!/bin/sh',
    '# Installs the hopwise helper for this user and registers it with the browsers found.',
    ...PLACES,
    '[ -L "$link" ] || [ ! -e "$link" ] || fail "$link is not the helper: move it away first"',
    'here=$(dirname "$(readlink -f "$0")")',
    'mkdir -p "$prefix/lib" "$prefix/bin"',
    'for each in "$prefix" "$prefix/lib" "$prefix/bin"; do',
    '  if [ -n "$(find -H "$each" -prune \\( -perm -o+w -o ! -user "$(id -u)" \\))" ]; then',
    '    fail "$each: expected a folder of yours that other users cannot write to"',
    '  fi',
    'done',
    ...REPLACE_FOLDER,
    'ln -sfn "$folder/bin/hopwise-host" "$link"',
    '"$folder/bin/hopwise-host" install',
    'case ":$path:" in',
    '  *":$prefix/bin:"*) ;;',
    '  *) echo "$prefix/bin is not on the PATH: call the helper as $link" ;;',
    'esac',
    '',
  ].join('\n');
}

/** Removes what an interrupted installation has left, too. */
export function uninstallScript(): string {
  return [
    '#!/bin/sh',
    '# Removes the hopwise helper of this user; with --all also its local CA, log and settings.',
    ...PLACES,
    '[ ! -e "$folder" ] || "$folder/bin/hopwise-host" uninstall "$@"',
    '[ "$(readlink "$link")" != "$folder/bin/hopwise-host" ] || rm "$link"',
    '[ ! -e "$folder" ] || mv "$folder" "$folder.old"',
    'rm -rf "$folder.new" "$folder.old"',
    '',
  ].join('\n');
}

function readme(depends: readonly string[]): string {
  const libraries = new Set(depends.map((one) => one.split(' ')[0]!));
  return [
    'The helper of the hopwise browser extension.',
    '',
    './install.sh      installs it below ~/.local, without root, and registers it with your browsers',
    '~/.local/lib/hopwise/uninstall.sh      undoes that; --all also removes its local CA, log and settings',
    '',
    'It needs these libraries of the system, by the names of Debian 12:',
    `  ${[...libraries].join(' ')}`,
    '',
  ].join('\n');
}

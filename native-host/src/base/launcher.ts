import { join } from 'node:path';
import { dataDirectory, packageFolder } from './paths.ts';

export function launcherName(): string {
  return process.platform === 'win32' ? 'hopwise-host.cmd' : 'hopwise-host.sh';
}

/** Absolute path of the launcher that browsers start: the package's own, or the one that `install` writes. */
export function launcherPath(): string {
  const folder = packageFolder();
  if (folder) return join(folder, 'bin', process.platform === 'win32' ? 'hopwise-host.cmd' : 'hopwise-host');
  return join(dataDirectory(), launcherName());
}

/**
 * A command line that runs the installed helper, for texts that a browser shows: a bare name need not be on the `PATH`, and
 * could fetch and run an unrelated program.
 *
 * @param words subcommand and arguments, which need no quoting
 * @returns in POSIX shell syntax, on Windows in PowerShell's
 */
export function launcherCommand(words: string): string {
  const path = launcherPath();
  if (process.platform === 'win32') return `& '${path.replaceAll("'", "''")}' ${words}`;
  const plain = /^[\w./+-]+$/.test(path);
  return `${plain ? path : `'${path.replaceAll("'", "'\\''")}'`} ${words}`;
}

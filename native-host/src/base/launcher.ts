import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dataDirectory, packageFolder } from './paths.ts';

/** Environment variable in which launchers pass on their own absolute path. */
export const LAUNCHER_VARIABLE = 'HOPWISE_LAUNCHER';

export function launcherName(): string {
  return process.platform === 'win32' ? 'hopwise-host.cmd' : 'hopwise-host.sh';
}

/** Absolute path of the launcher that browsers start: the package's own, or the one that `install` writes. */
export function launcherPath(): string {
  const folder = packageFolder();
  if (folder) return join(folder, 'bin', process.platform === 'win32' ? 'hopwise-host.cmd' : 'hopwise-host');
  return join(dataDirectory(), launcherName());
}

/** Absolute path of the launcher that started this process, such as `/usr/bin/hopwise-host`; else `launcherPath`. */
export function usedLauncher(): string {
  return process.env[LAUNCHER_VARIABLE] || launcherPath();
}

/**
 * A command line that runs this helper, for texts that people read: a bare name need not be on the `PATH`, and could fetch and
 * run an unrelated program. It names the npm script that has started this process, the launcher or, where none is installed yet, Node and its
 * script.
 *
 * @param words subcommand and arguments, which need no quoting
 * @param values arguments that are quoted where they need it
 * @returns in POSIX shell syntax, on Windows in PowerShell's
 */
export function launcherCommand(words: string, values: readonly string[] = []): string {
  // How a person calls this program, where an npm script of the checkout has started it.
  const { HOPWISE_CALLED_AS: called } = process.env;
  if (called) return [called, words, ...values.map(quote)].join(' ');
  const launcher = usedLauncher();
  const program = existsSync(launcher)
    ? [launcher]
    : [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
  const command = [...program.map(quote), words, ...values.map(quote)].join(' ');
  return process.platform === 'win32' ? `& ${command}` : command;
}

/** The word as shells read it, quoted where necessary. */
export function quote(word: string): string {
  if (process.platform === 'win32') return `'${word.replaceAll("'", "''")}'`;
  return /^[\w./:,=+-]+$/.test(word) ? word : shellQuote(word);
}

/** The word in quotation marks of POSIX shells. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

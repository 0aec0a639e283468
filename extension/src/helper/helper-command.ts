/**
 * The helper's commands as a user copies them into a shell. The launcher is named by its path, which the installer fixes
 * (`launcherFile` in `native-host/src/install/install.ts`): a bare package name could fetch and run an unrelated program.
 */

/** The launcher under the user's data folder, in POSIX shell syntax (XDG base directory specification). */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is shell syntax.
const POSIX_LAUNCHER = '"${XDG_DATA_HOME:-$HOME/.local/share}/hopwise/hopwise-host.sh"';
/** The same in PowerShell syntax. */
const WINDOWS_LAUNCHER = '& "$env:LOCALAPPDATA\\hopwise\\hopwise-host.cmd"';

/** Name of the shell that `helperCommand` writes for. */
export function shellName(userAgent = navigator.userAgent): string {
  return isWindows(userAgent) ? 'PowerShell' : 'a terminal';
}

/**
 * A command line that runs the installed helper.
 *
 * @param words subcommand and options, which need no quoting
 * @param values arguments from outside, quoted so that the shell takes each of them literally
 */
export function helperCommand(
  words: string,
  values: readonly string[] = [],
  userAgent = navigator.userAgent,
): string {
  const windows = isWindows(userAgent);
  const launcher = windows ? WINDOWS_LAUNCHER : POSIX_LAUNCHER;
  const escaped = windows ? "''" : "'\\''";
  const quoted = values.map((value) => `'${value.replaceAll("'", escaped)}'`);
  return [launcher, words, ...quoted].join(' ');
}

function isWindows(userAgent: string): boolean {
  return userAgent.includes('Windows');
}

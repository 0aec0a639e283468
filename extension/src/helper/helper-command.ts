/** The helper's commands as a user copies them into a shell. */

/** Name of the shell that `helperCommand` writes for. */
export function shellName(userAgent = navigator.userAgent): string {
  return isWindows(userAgent) ? 'PowerShell' : 'a terminal';
}

/**
 * A command line that runs the installed helper.
 *
 * @param launcher absolute path of the helper's launcher, as the helper reports it
 * @param words subcommand and options, which need no quoting
 * @param values arguments from outside, quoted so that the shell takes each of them literally
 */
export function helperCommand(
  launcher: string,
  words: string,
  values: readonly string[] = [],
  userAgent = navigator.userAgent,
): string {
  const windows = isWindows(userAgent);
  const escaped = windows ? "''" : "'\\''";
  const quote = (value: string): string => `'${value.replaceAll("'", escaped)}'`;
  const program = windows
    ? `& ${quote(launcher)}`
    : /^[\w./+-]+$/.test(launcher)
      ? launcher
      : quote(launcher);
  return [program, words, ...values.map(quote)].join(' ');
}

function isWindows(userAgent: string): boolean {
  return userAgent.includes('Windows');
}

/** The helper's commands as a user copies them into a shell. */

/** Whether `helperCommand` writes for PowerShell instead of a POSIX shell. */
export function usesPowerShell(userAgent = navigator.userAgent): boolean {
  return userAgent.includes('Windows');
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
  const windows = usesPowerShell(userAgent);
  const escaped = windows ? "''" : "'\\''";
  const quote = (value: string): string => `'${value.replaceAll("'", escaped)}'`;
  const program = windows
    ? `& ${quote(launcher)}`
    : /^[\w./+-]+$/.test(launcher)
      ? launcher
      : quote(launcher);
  return [program, words, ...values.map(quote)].join(' ');
}

/** The oldest Node that the programs run under. */
export const MIN_NODE = 20;

/** What `doctor` found of one thing that a program needs. */
export interface InstallationCheck {
  name: string;
  ok: boolean;
  /** What was found. */
  detail: string;
  /** What to do; '' when nothing is. Of a check that is `ok`, it is a recommendation. */
  fix: string;
}

/** One check as lines for a terminal. */
export function installationLines({ name, ok, detail, fix }: InstallationCheck): string[] {
  const verdict = ok ? (fix ? 'WARN' : 'ok  ') : 'FAIL';
  return [`${verdict} ${name}: ${detail}`, ...(fix ? [`     fix: ${fix}`] : [])];
}

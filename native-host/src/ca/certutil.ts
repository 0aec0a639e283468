/** NSS's `certutil`, the only program that writes to the certificate stores of Chromium and Firefox on Linux. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { osRelease } from '../base/install-hints.ts';
import { quote } from '../base/launcher.ts';

const run = promisify(execFile);

/** How long to wait for a store that another program has locked. */
const TIMEOUT_MS = 30_000;

/** Trust flags of a CA for TLS servers only. */
const TRUSTED = 'C,,';

export class CertutilError extends Error {}

/** Path of `certutil`, null for none. Windows has an unrelated program of that name. */
export function findCertutil(): string | null {
  if (process.platform === 'win32') return null;
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, 'certutil');
    try {
      if (!isAbsolute(folder)) continue;
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/** One line: how to get `certutil` on this system. */
export function certutilInstallHint(): string {
  const { id } = osRelease();
  if (id === 'debian' || id === 'ubuntu') return 'sudo apt install libnss3-tools';
  if (id === 'fedora') return 'sudo dnf install nss-tools';
  if (process.platform === 'darwin') return 'brew install nss';
  return "install NSS's tools (libnss3-tools, nss-tools or mozilla-nss-tools)";
}

/** Whether the store in `folder` trusts the certificate of this name as a CA for TLS servers. */
export async function isTrusted(folder: string, name: string): Promise<boolean> {
  return (await flagsIn(folder, name))?.startsWith('C') ?? false;
}

/** @throws CertutilError in one line; then the store is unchanged. */
export async function addTrusted(folder: string, name: string, file: string): Promise<void> {
  try {
    await certutil(addArguments(folder, name, file));
  } catch (fault) {
    // On a store with a password, certutil adds the certificate and fails to trust it.
    await removeNamed(folder, name).catch(() => {});
    throw fault;
  }
}

/** Also removes the remains of an interrupted `addTrusted`. @throws CertutilError in one line. */
export async function removeNamed(folder: string, name: string): Promise<boolean> {
  if ((await flagsIn(folder, name)) === null) return false;
  await certutil(removeArguments(folder, name));
  return true;
}

/** The command for a user who knows the store's password. */
export function addCommand(folder: string, name: string, file: string): string {
  return shellLine(addArguments(folder, name, file));
}

export function removeCommand(folder: string, name: string): string {
  return shellLine(removeArguments(folder, name));
}

function addArguments(folder: string, name: string, file: string): string[] {
  return ['-A', '-d', `sql:${folder}`, '-t', TRUSTED, '-n', name, '-i', file];
}

function removeArguments(folder: string, name: string): string[] {
  return ['-D', '-d', `sql:${folder}`, '-n', name];
}

function shellLine(words: string[]): string {
  return ['certutil', ...words].map(quote).join(' ');
}

/** The trust flags of the certificate, such as `C,,`; null when the store has none of that name. */
async function flagsIn(folder: string, name: string): Promise<string | null> {
  const lines = (await certutil(['-L', '-d', `sql:${folder}`])).split('\n');
  const line = lines.find((text) => text.startsWith(`${name} `));
  return line === undefined ? null : line.slice(name.length).trim();
}

async function certutil(words: string[]): Promise<string> {
  const program = findCertutil();
  if (!program) throw new CertutilError(`certutil is missing: ${certutilInstallHint()}`);
  // With an empty password file it does not prompt at the terminal.
  const command = run(program, [...words, '-f', '/dev/null'], {
    timeout: TIMEOUT_MS,
    env: { ...process.env, LC_ALL: 'C' },
  });
  command.child.stdin?.end();
  try {
    return (await command).stdout;
  } catch (fault) {
    const { stderr, killed, message } = fault as Error & { stderr?: string; killed?: boolean };
    if (killed) throw new CertutilError(`certutil did not end within ${TIMEOUT_MS / 1000} s`);
    throw new CertutilError(stderr?.trim().split('\n').at(-1) || message.split('\n')[0]!);
  }
}

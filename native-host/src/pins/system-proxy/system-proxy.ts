/**
 * Whether the system has browsers use a proxy. A browser that goes by the system's settings does not tell its extensions what
 * they are, and would use none for anything while origins are pinned.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { configDirectory } from '../../base/paths.ts';
import { inEnvironment, inGnome, inKde, inMacos, inWindows } from './settings.ts';

const run = promisify(execFile);

/** These programs read one setting each; one that hangs must not hold up a pin. */
const TIMEOUT_MS = 2_000;
const WINDOWS_KEY = 'HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Internet Settings';

/** Where the proxy is set, in a few words for a person; '' where there is none, or none that can be seen. */
export async function systemProxy(): Promise<string> {
  if (process.platform === 'darwin') return inMacos(await output('scutil', '--proxy'));
  if (process.platform === 'win32') {
    const connections = `${WINDOWS_KEY}\\Connections`;
    const [settings, flags] = await Promise.all([
      output('reg', 'query', WINDOWS_KEY),
      output('reg', 'query', connections, '/v', 'DefaultConnectionSettings'),
    ]);
    return inWindows(settings, flags);
  }
  const named = inEnvironment(process.env);
  if (named !== '') return named;
  const [gnome, kde] = await Promise.all([
    output('gsettings', 'get', 'org.gnome.system.proxy', 'mode'),
    readFile(join(configDirectory(), 'kioslaverc'), 'utf8').catch(() => ''),
  ]);
  return inGnome(gnome) || inKde(kde);
}

/** What a program prints; '' where it is not there or fails. */
async function output(program: string, ...args: string[]): Promise<string> {
  try {
    return (await run(program, args, { timeout: TIMEOUT_MS, windowsHide: true })).stdout;
  } catch {
    return '';
  }
}

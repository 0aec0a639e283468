/**
 * Whether the system configures a proxy for browsers. A browser that follows the system's settings does not expose them to its
 * extensions, and would ignore them for all requests while origins are pinned.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { configDirectory } from '../../base/paths.ts';
import { inEnvironment, inGnome, inKde, inMacos, inWindows } from './settings.ts';

const run = promisify(execFile);

/** Each of these programs reads one setting; one that hangs must not delay a pin. */
const TIMEOUT_MS = 2_000;
const WINDOWS_KEY = 'HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Internet Settings';

/** Where a proxy is set, for the user; '' for none, or none that can be detected. */
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

/** The output of a program; '' when it is missing or fails. */
async function output(program: string, ...args: string[]): Promise<string> {
  try {
    return (await run(program, args, { timeout: TIMEOUT_MS, windowsHide: true })).stdout;
  } catch {
    return '';
  }
}

/** Checks everything that the host needs by using it. */

import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type InstallationCheck as Check, MIN_NODE } from '@hopwise/contract';
import { http3InstallHint } from '../base/install-hints.ts';
import { launcherCommand } from '../base/launcher.ts';
import { logFile } from '../base/log.ts';
import { packageFolder } from '../base/paths.ts';
import { authorityLine, authorityStatus } from '../ca/authority-status.ts';
import { certutilInstallHint, findCertutil } from '../ca/certutil.ts';
import { trustNow } from '../ca/trust.ts';
import { caFile } from '../curl/ca-file.ts';
import { Engine, engineLine, engineProblem } from '../engine/engine.ts';
import { pinsLine, pinsStatus } from '../pins/pin-status.ts';
import { explainUnknownUsers } from '../pins/proxy/socket-users.ts';
import { isOutdated, MAX_AGE_DAYS, packageLine, packageOf } from '../setup/libcurl-package.ts';
import { checkForUpdate, replacementFix, updateFix, updateLine } from '../setup/libcurl-update.ts';
import { chosenBrowsers, type InstallOptions } from './install.ts';
import type { ExtensionIds } from './manifest.ts';
import { registeredManifest, registrationProblem } from './registration.ts';

const pass = (name: string, detail: string): Check => ({ name, ok: true, detail, fix: '' });
const warn = (name: string, detail: string, fix: string): Check => ({ name, ok: true, detail, fix });
const fail = (name: string, detail: string, fix: string): Check => ({ name, ok: false, detail, fix });

/**
 * @param options the browsers to check, as for `install`.
 */
export async function doctor(
  options: Pick<InstallOptions, 'userDataDirectory' | 'browsers'> & {
    ids: ExtensionIds;
    libcurl?: string;
    /** Do not ask Debian for a newer libcurl. */
    offline?: boolean;
  },
): Promise<Check[]> {
  return [
    checkNode(),
    await checkKoffi(),
    ...(await checkEngine(options)),
    checkCaFile(),
    ...checkBrowsers(options),
    ...(await checkAuthority()),
    ...(await checkPins()),
    checkLog(),
  ];
}

function checkNode(): Check {
  const detail = `${process.version} (${process.execPath})`;
  if (Number(process.versions.node.split('.')[0]) >= MIN_NODE) return pass('Node', detail);
  return fail('Node', detail, `install Node ${MIN_NODE} or later, then: ${launcherCommand('install')}`);
}

/** Loads koffi in a process of its own, as native code may crash. */
async function checkKoffi(): Promise<Check> {
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  const program = "import('koffi').then((k) => process.stdout.write(k.default.version))";
  try {
    const folder = new URL('.', import.meta.url);
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { cwd: folder });
    return pass('koffi', stdout);
  } catch (fault) {
    const words =
      (fault as Error).message.split('\n').find((line) => line.includes('Error')) ?? 'does not load';
    const fix = packageFolder() ? 'reinstall the helper' : 'reinstall the dependencies: npm install';
    return fail('koffi', words, fix);
  }
}

async function checkEngine({ libcurl, offline }: Parameters<typeof doctor>[0]): Promise<Check[]> {
  const engine = new Engine({ libcurl });
  try {
    const info = await engine.start();
    const problem = engineProblem(info);
    const copy = packageOf(info.path);
    const update = copy && !offline ? await checkForUpdate(copy) : null;
    const checks = [
      pass('libcurl', `${engineLine(info)} (${info.path})${copy ? `; ${packageLine(copy)}` : ''}`),
    ];
    // An old libcurl works, and an update that is available or could not be looked for is no fault.
    if (copy && isOutdated(copy)) {
      const detail = `more than ${MAX_AGE_DAYS} days: security fixes are probably missing`;
      checks.push(warn('libcurl age', detail, replacementFix(update)));
    }
    if (update) checks.push(warn('libcurl update', updateLine(update), updateFix(update)));
    const http3 = info.http3 ? info.quic : `libcurl ${info.version} has none`;
    checks.push(problem ? fail('HTTP/3', http3, http3InstallHint()) : pass('HTTP/3', http3));
    return checks;
  } catch (fault) {
    return [fail('libcurl', (fault as Error).message, http3InstallHint())];
  } finally {
    await engine.close();
  }
}

function checkCaFile(): Check {
  const name = 'CA bundle';
  try {
    const path = caFile();
    const count = path
      ? (readFileSync(path, 'latin1').match(/-----BEGIN CERTIFICATE-----/g)?.length ?? 0)
      : 0;
    if (path && count === 0) return fail(name, `${path} holds no certificate`, 'install ca-certificates');
    return pass(name, path ? `${path}, ${count} certificates` : "libcurl's own");
  } catch (fault) {
    return fail(name, (fault as Error).message, 'name an existing file or unset it');
  }
}

function checkBrowsers(options: Parameters<typeof doctor>[0]): Check[] {
  const where = options.userDataDirectory ? ['--user-data-dir', options.userDataDirectory] : [];
  return chosenBrowsers(options).map((browser) => {
    const problem = registrationProblem(browser, options.ids);
    if (problem === '') return pass(browser.name, registeredManifest(browser));
    return fail(browser.name, problem, `run: ${launcherCommand('install', where)}`);
  });
}

async function checkAuthority(): Promise<Check[]> {
  const status = authorityStatus();
  const line = authorityLine(status);
  const authority = status.problem ? fail('Local CA', line, status.fix) : pass('Local CA', line);
  // On other systems the user adds the root by hand, and the stores cannot be read.
  const isReadable = process.platform === 'linux' && status.problem === '' && status.hosts.length > 0;
  return isReadable ? [authority, await checkTrust()] : [authority];
}

/** A CA that no browser trusts has no effect. */
async function checkTrust(): Promise<Check> {
  const name = 'CA trust';
  if (!findCertutil()) {
    const detail = 'which browsers trust the local CA is unknown: certutil is missing';
    return fail(name, detail, certutilInstallHint());
  }
  const stores = await trustNow();
  const trusting = stores.filter(({ trusted }) => trusted).map(({ browser }) => browser);
  if (trusting.length > 0) return pass(name, trusting.join(', '));
  const why = stores.find(({ problem }) => problem !== '');
  const detail = why ? `${why.folder}: ${why.problem}` : 'no browser trusts the local CA';
  return fail(name, detail, `run: ${launcherCommand('ca trust')}`);
}

async function checkPins(): Promise<Check[]> {
  const missing = explainUnknownUsers();
  if (missing !== '') return [warn('Pins', missing, 'verify predictions, which works without pins')];
  const status = await pinsStatus();
  if (status.problems.length === 0) return [pass('Pins', pinsLine(status))];
  return status.problems.map(({ problem, fix }) => fail('Pins', problem, fix));
}

function checkLog(): Check {
  const path = logFile();
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    accessSync(dirname(path), constants.W_OK);
    if (existsSync(path)) closeSync(openSync(path, 'a'));
    return pass('Log', path);
  } catch (fault) {
    const fix = `make ${dirname(path)} writable and ${path} a file of yours, or set XDG_STATE_HOME`;
    return fail('Log', (fault as Error).message, fix);
  }
}

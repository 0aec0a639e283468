/** Checks everything that the host needs by using it. */

import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
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
import { packageLine, packageOf } from '../setup/libcurl-package.ts';
import { checkForUpdate, updateFix, updateLine } from '../setup/libcurl-update.ts';
import { chosenBrowsers, type InstallOptions } from './install.ts';
import type { ExtensionIds } from './manifest.ts';
import { registeredManifest, registrationProblem } from './registration.ts';

export interface Check {
  name: string;
  ok: boolean;
  /** What was found. */
  detail: string;
  /** What to do; '' when nothing is. */
  fix: string;
}

const MIN_NODE = 20;

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
  const ok = Number(process.versions.node.split('.')[0]) >= MIN_NODE;
  return {
    name: 'Node',
    ok,
    detail: `${process.version} (${process.execPath})`,
    fix: ok ? '' : `install Node ${MIN_NODE} or later, then: ${launcherCommand('install')}`,
  };
}

/** Loads koffi in a process of its own, as native code may crash. */
async function checkKoffi(): Promise<Check> {
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  const program = "import('koffi').then((k) => process.stdout.write(k.default.version))";
  try {
    const folder = new URL('.', import.meta.url);
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { cwd: folder });
    return { name: 'koffi', ok: true, detail: stdout, fix: '' };
  } catch (fault) {
    const words =
      (fault as Error).message.split('\n').find((line) => line.includes('Error')) ?? 'does not load';
    const fix = packageFolder() ? 'reinstall the helper' : 'reinstall the dependencies: npm install';
    return { name: 'koffi', ok: false, detail: words, fix };
  }
}

async function checkEngine({ libcurl, offline }: Parameters<typeof doctor>[0]): Promise<Check[]> {
  const engine = new Engine({ libcurl });
  try {
    const info = await engine.start();
    const problem = engineProblem(info);
    const copy = packageOf(info.path);
    const update = copy && !offline ? await checkForUpdate(copy) : null;
    return [
      {
        name: 'libcurl',
        ok: true,
        detail: `${engineLine(info)} (${info.path})${copy ? `; ${packageLine(copy)}` : ''}`,
        fix: '',
      },
      // An update that is available or could not be looked for is no fault.
      ...(update
        ? [{ name: 'libcurl update', ok: true, detail: updateLine(update), fix: updateFix(update) }]
        : []),
      {
        name: 'HTTP/3',
        ok: problem === '',
        detail: info.http3 ? info.quic : `libcurl ${info.version} has none`,
        fix: problem === '' ? '' : http3InstallHint(),
      },
    ];
  } catch (fault) {
    return [{ name: 'libcurl', ok: false, detail: (fault as Error).message, fix: http3InstallHint() }];
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
    if (path && count === 0) {
      return { name, ok: false, detail: `${path} holds no certificate`, fix: 'install ca-certificates' };
    }
    return { name, ok: true, detail: path ? `${path}, ${count} certificates` : "libcurl's own", fix: '' };
  } catch (fault) {
    return { name, ok: false, detail: (fault as Error).message, fix: 'name an existing file or unset it' };
  }
}

function checkBrowsers(options: Parameters<typeof doctor>[0]): Check[] {
  const where = options.userDataDirectory ? ['--user-data-dir', options.userDataDirectory] : [];
  return chosenBrowsers(options).map((browser) => {
    const problem = registrationProblem(browser, options.ids);
    return {
      name: browser.name,
      ok: problem === '',
      detail: problem || registeredManifest(browser),
      fix: problem ? `run: ${launcherCommand('install', where)}` : '',
    };
  });
}

async function checkAuthority(): Promise<Check[]> {
  const status = authorityStatus();
  const authority = {
    name: 'Local CA',
    ok: status.problem === '',
    detail: authorityLine(status),
    fix: status.fix,
  };
  // On other systems the user adds the root by hand, and the stores cannot be read.
  const isReadable = process.platform === 'linux' && status.problem === '' && status.hosts.length > 0;
  return isReadable ? [authority, await checkTrust()] : [authority];
}

/** A CA that no browser trusts has no effect. */
async function checkTrust(): Promise<Check> {
  const name = 'CA trust';
  if (!findCertutil()) {
    const detail = 'which browsers trust the local CA is unknown: certutil is missing';
    return { name, ok: false, detail, fix: certutilInstallHint() };
  }
  const stores = await trustNow();
  const trusting = stores.filter(({ trusted }) => trusted).map(({ browser }) => browser);
  if (trusting.length > 0) return { name, ok: true, detail: trusting.join(', '), fix: '' };
  const why = stores.find(({ problem }) => problem !== '');
  return {
    name,
    ok: false,
    detail: why ? `${why.folder}: ${why.problem}` : 'no browser trusts the local CA',
    fix: `run: ${launcherCommand('ca trust')}`,
  };
}

async function checkPins(): Promise<Check[]> {
  const status = await pinsStatus();
  if (status.problems.length === 0) return [{ name: 'Pins', ok: true, detail: pinsLine(status), fix: '' }];
  return status.problems.map(({ problem, fix }) => ({ name: 'Pins', ok: false, detail: problem, fix }));
}

function checkLog(): Check {
  const path = logFile();
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    accessSync(dirname(path), constants.W_OK);
    if (existsSync(path)) closeSync(openSync(path, 'a'));
    return { name: 'Log', ok: true, detail: path, fix: '' };
  } catch (fault) {
    return {
      name: 'Log',
      ok: false,
      detail: (fault as Error).message,
      fix: `make ${dirname(path)} writable and ${path} a file of yours, or set XDG_STATE_HOME`,
    };
  }
}

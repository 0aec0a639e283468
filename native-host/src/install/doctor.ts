/** Checks everything that the host needs, by really using it. */
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { authorityLine, authorityStatus } from '../ca/authority-status.ts';
import { caFile } from '../engine/ca-file.ts';
import { Engine, engineLine, engineProblem } from '../engine/engine.ts';
import { http3Mend } from '../engine/mend.ts';
import { logFile } from '../log.ts';
import { pinsLine, pinsStatus } from '../pin/pin-status.ts';
import { chosenBrowsers, type InstallOptions } from './install.ts';
import type { ExtensionIds } from './manifest.ts';
import { registrationProblem } from './registration.ts';

export interface Check {
  name: string;
  ok: boolean;
  /** What was found. */
  detail: string;
  /** What to do; '' when nothing is. */
  mend: string;
}

const OLDEST_NODE = 20;

/**
 * @param options which browsers are looked at, as for `install`.
 */
export async function doctor(
  options: Pick<InstallOptions, 'userDataDirectory' | 'browsers'> & { ids: ExtensionIds; libcurl?: string },
): Promise<Check[]> {
  return [
    checkNode(),
    await checkKoffi(),
    ...(await checkEngine(options.libcurl)),
    checkCaFile(),
    ...checkBrowsers(options),
    checkAuthority(),
    await checkPins(),
    checkLog(),
  ];
}

function checkNode(): Check {
  const ok = Number(process.versions.node.split('.')[0]) >= OLDEST_NODE;
  return {
    name: 'Node',
    ok,
    detail: `${process.version} (${process.execPath})`,
    mend: ok ? '' : `install Node ${OLDEST_NODE} or later, then: hopwise-host install`,
  };
}

/** In a process of its own, as everything native. */
async function checkKoffi(): Promise<Check> {
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  const program = "import('koffi').then((k) => process.stdout.write(k.default.version))";
  try {
    const folder = new URL('.', import.meta.url);
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { cwd: folder });
    return { name: 'koffi', ok: true, detail: stdout, mend: '' };
  } catch (fault) {
    const words =
      (fault as Error).message.split('\n').find((line) => line.includes('Error')) ?? 'does not load';
    return { name: 'koffi', ok: false, detail: words, mend: 'reinstall the dependencies: npm install' };
  }
}

async function checkEngine(libcurl?: string): Promise<Check[]> {
  const engine = new Engine({ libcurl });
  try {
    const info = await engine.start();
    const problem = engineProblem(info);
    return [
      { name: 'libcurl', ok: true, detail: `${engineLine(info)} (${info.path})`, mend: '' },
      {
        name: 'HTTP/3',
        ok: problem === '',
        detail: info.http3 ? info.quic : `libcurl ${info.version} has none`,
        mend: problem === '' ? '' : http3Mend(),
      },
    ];
  } catch (fault) {
    return [{ name: 'libcurl', ok: false, detail: (fault as Error).message, mend: http3Mend() }];
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
      return { name, ok: false, detail: `${path} holds no certificate`, mend: 'install ca-certificates' };
    }
    return { name, ok: true, detail: path ? `${path}, ${count} certificates` : "libcurl's own", mend: '' };
  } catch (fault) {
    return { name, ok: false, detail: (fault as Error).message, mend: 'name an existing file or unset it' };
  }
}

function checkBrowsers(options: Parameters<typeof doctor>[0]): Check[] {
  const where = options.userDataDirectory ? ` --user-data-dir ${options.userDataDirectory}` : '';
  return chosenBrowsers(options).map((browser) => {
    const problem = registrationProblem(browser, options.ids);
    return {
      name: browser.name,
      ok: problem === '',
      detail: problem || browser.manifestFile,
      mend: problem ? `run: hopwise-host install${where}` : '',
    };
  });
}

function checkAuthority(): Check {
  const status = authorityStatus();
  return {
    name: 'Local CA',
    ok: status.problem === '',
    detail: authorityLine(status),
    mend: status.mend,
  };
}

async function checkPins(): Promise<Check> {
  const status = await pinsStatus();
  const [found] = status.problems;
  return {
    name: 'Pins',
    ok: found === undefined,
    detail: found?.problem ?? pinsLine(status),
    mend: found?.mend ?? '',
  };
}

function checkLog(): Check {
  const path = logFile();
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    accessSync(dirname(path), constants.W_OK);
    return { name: 'Log', ok: true, detail: path, mend: '' };
  } catch (fault) {
    return {
      name: 'Log',
      ok: false,
      detail: (fault as Error).message,
      mend: `make ${dirname(path)} writable, or set XDG_STATE_HOME`,
    };
  }
}

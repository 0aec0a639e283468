/**
 * The steps of set-up. A step says whether it is done (`check`, which changes nothing) and does it (`run`). Node's own
 * modules only: they run before any package is installed.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  findOnPath,
  lastLine,
  nodePath,
  pathWithoutOwnNode,
  ROOT,
  requireNode24,
  runLogged,
  SetupError,
} from './setup-programs.mjs';

const PACKAGES_STAMP = join(ROOT, 'node_modules', '.hopwise-packages');
export const HOST = join(ROOT, 'native-host', 'dist', 'bin', 'hopwise-host.js');
const PACKAGES = [
  'contract',
  'pageload-emulator',
  'native-host',
  'model',
  'extension',
  'lab',
  'bench',
  'e2e',
];
const LAB = join(ROOT, 'lab', 'go', 'bin', 'hopwise-lab');
const PYTHON_FOLDER = join(ROOT, '.cache', 'model-python');
const PYTHON_STAMP = join(PYTHON_FOLDER, '.hopwise-packages');
/** Python of the model's own environment. */
export const PYTHON = join(PYTHON_FOLDER, 'bin', 'python');

/** Folders below the packages that hold no sources of the build. */
const NOT_SOURCES = [
  'node_modules',
  'dist',
  'target',
  'test',
  'specs',
  'test-results',
  'playwright-report',
  '.git',
];

/** Newest modification time below the given files and folders, leaving out what is no source. */
function newest(paths, keep = () => true) {
  let latest = 0;
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const info = statSync(path);
    if (info.isDirectory()) {
      for (const name of readdirSync(path)) {
        if (NOT_SOURCES.includes(name)) continue;
        latest = Math.max(latest, newest([join(path, name)], keep));
      }
    } else if (keep(path)) {
      latest = Math.max(latest, info.mtimeMs);
    }
  }
  return latest;
}

function fingerprint(...path) {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, ...path)))
    .digest('hex');
}

const packagesFingerprint = () => fingerprint('package-lock.json');

const packages = {
  name: 'packages',
  what: 'npm packages, with Node 24',
  check() {
    if (!existsSync(PACKAGES_STAMP)) return 'not installed';
    return readFileSync(PACKAGES_STAMP, 'utf8') === packagesFingerprint()
      ? ''
      : 'older than package-lock.json';
  },
  async run({ log }) {
    const npm = findOnPath('npm');
    if (!npm) throw new SetupError('npm is not on the PATH: install Node.js 20 or later with npm');
    const env = { ...process.env, PATH: pathWithoutOwnNode() };
    // The warnings left out concern Node versions: packages run under their own Node. Install scripts, which could fetch what
    // package-lock.json does not pin, stay off even where a user's settings allow them.
    await runLogged(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      log,
      env,
    });
    requireNode24();
    writeFileSync(PACKAGES_STAMP, packagesFingerprint());
  },
};

const build = {
  name: 'build',
  what: 'TypeScript and the extension bundle',
  check() {
    const sources = newest(
      [...PACKAGES.map((name) => join(ROOT, name)), join(ROOT, 'tsconfig.base.json'), PACKAGES_STAMP],
      (path) => /\.(ts|mjs|css|html|json|svg|png)$|hopwise-packages$/.test(path),
    );
    const outputs = [
      HOST,
      join(ROOT, 'extension/dist/chromium/manifest.json'),
      join(ROOT, 'extension/dist/chromium/report-client.js'),
    ];
    if (outputs.some((path) => !existsSync(path))) return 'not built';
    const stamp = join(ROOT, 'e2e', 'dist', '.built');
    return existsSync(stamp) && statSync(stamp).mtimeMs >= sources ? '' : 'older than its sources';
  },
  async run({ log }) {
    const node = nodePath();
    await runLogged(node, [join(ROOT, 'node_modules/.bin/tsc'), '-b'], { log });
    await runLogged(node, [join(ROOT, 'extension/build.mjs')], { log });
    writeFileSync(join(ROOT, 'e2e', 'dist', '.built'), '');
  },
};

/** Debian's packages that the browser needs; the sandbox and one font are only recommended by it. */
const CHROMIUM_PACKAGES = ['chromium', 'chromium-sandbox', 'fonts-liberation'];

/** Chromium to drive: `HOPWISE_CHROMIUM`, else Debian's. Chrome itself no longer takes unpacked extensions. */
export function chromiumPath() {
  const named = process.env.HOPWISE_CHROMIUM;
  if (named) return existsSync(named) ? named : null;
  return ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path)) ?? null;
}

async function aptInstall(names, { log, asRoot }) {
  const prefix = await asRoot(`install Debian's package${names.length > 1 ? 's' : ''} ${names.join(', ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) =>
    runLogged(prefix[0] ?? 'apt-get', [...prefix.slice(1), ...(prefix.length ? ['apt-get'] : []), ...args], {
      log,
      env,
    });
  await apt('update');
  await apt('install', '-y', '--no-install-recommends', ...names);
}

const chromium = {
  name: 'chromium',
  what: 'Chromium',
  check() {
    if (chromiumPath()) return '';
    const named = process.env.HOPWISE_CHROMIUM;
    return named ? `HOPWISE_CHROMIUM names ${named}, which is not there` : 'not installed';
  },
  async run({ log, asRoot }) {
    // Debian's would not be used.
    if (process.env.HOPWISE_CHROMIUM)
      throw new SetupError(`${this.check()}: set it to the path of a Chromium, or unset it`);
    if (!findOnPath('apt-get')) {
      throw new SetupError(
        'Chromium is missing and this system has no apt-get: install Chromium and set HOPWISE_CHROMIUM to its path',
      );
    }
    await aptInstall(CHROMIUM_PACKAGES, { log, asRoot });
  },
};

/** Chromium that shows nothing and so leaves more of the processor to what is measured. */
const headlessShell = {
  name: 'headless',
  what: 'headless shell',
  /** Without it loads are measured in the full browser. */
  optional: 'loads will be measured in the full browser, which costs more processor time',
  check() {
    const named = process.env.HOPWISE_HEADLESS_SHELL;
    if (named) return existsSync(named) ? '' : `HOPWISE_HEADLESS_SHELL names ${named}, which is not there`;
    return existsSync('/usr/bin/chromium-headless-shell') ? '' : 'not installed';
  },
  async run({ log, asRoot }) {
    if (process.env.HOPWISE_HEADLESS_SHELL)
      throw new SetupError(`${this.check()}: set it to the path of a chrome-headless-shell, or unset it`);
    if (!findOnPath('apt-get')) throw new SetupError('this system has no apt-get');
    await aptInstall(['chromium-headless-shell'], { log, asRoot });
  },
};

/** Firefox of the extension's tests: `HOPWISE_FIREFOX`, else Debian's. */
const firefox = {
  name: 'firefox',
  what: 'Firefox',
  optional: 'the tests in Firefox will be skipped',
  check() {
    const named = process.env.HOPWISE_FIREFOX;
    if (named) return existsSync(named) ? '' : `HOPWISE_FIREFOX names ${named}, which is not there`;
    return ['/usr/bin/firefox-esr', '/usr/bin/firefox'].some((path) => existsSync(path))
      ? ''
      : 'not installed';
  },
  async run({ log, asRoot }) {
    if (process.env.HOPWISE_FIREFOX)
      throw new SetupError(`${this.check()}: set it to the path of a Firefox, or unset it`);
    if (!findOnPath('apt-get')) throw new SetupError('this system has no apt-get');
    await aptInstall(['firefox-esr'], { log, asRoot });
  },
};

/** Writes to the browsers' certificate stores: `hopwise-host ca trust` and its tests. */
const certutil = {
  name: 'certutil',
  what: "NSS's certutil",
  check: () => (findOnPath('certutil') ? '' : 'not installed'),
  async run({ log, asRoot }) {
    if (!findOnPath('apt-get'))
      throw new SetupError("certutil is missing and this system has no apt-get: install NSS's tools");
    await aptInstall(['libnss3-tools'], { log, asRoot });
  },
};

const libcurl = {
  name: 'libcurl',
  what: 'libcurl with HTTP/3',
  check() {
    if (!existsSync(HOST)) return 'known once the build is done';
    const result = spawnSync(nodePath(), [HOST, 'setup', '--check', '--offline', '--json'], {
      encoding: 'utf8',
    });
    if (result.status === 0) return '';
    if (result.stderr) return lastLine(result.stderr);
    const { state, engine, fix } = JSON.parse(result.stdout);
    if (state === 'unsupported') return fix;
    return engine ? `there is only ${engine}` : 'not installed';
  },
  async run({ log }) {
    await runLogged(nodePath(), [HOST, 'setup'], { log });
  },
};

/** Go's version as numbers, or null. */
function goVersion() {
  const go = findOnPath('go');
  if (!go) return null;
  const match = /go(\d+)\.(\d+)/.exec(spawnSync(go, ['version'], { encoding: 'utf8' }).stdout ?? '');
  return match ? [Number(match[1]), Number(match[2])] : null;
}

const lab = {
  name: 'lab',
  what: 'the lab (replay server and emulated link)',
  check() {
    if (!existsSync(LAB)) return 'not built';
    const sources = newest([join(ROOT, 'lab', 'go')], (path) => /\.go$|go\.(mod|sum)$/.test(path));
    return statSync(LAB).mtimeMs >= sources ? '' : 'older than its sources';
  },
  async run({ log }) {
    const version = goVersion();
    if (!version)
      throw new SetupError(
        'Go is not on the PATH: install Go 1.24 or later (https://go.dev/dl/), the lab is written in it; without the lab: npm start -- https://example.org/',
      );
    if (version[0] === 1 && version[1] < 24) {
      throw new SetupError(
        `Go ${version.join('.')} is too old: the lab needs Go 1.24 or later (https://go.dev/dl/); without the lab: npm start -- https://example.org/`,
      );
    }
    await runLogged('go', ['build', '-trimpath', '-o', LAB, '.'], {
      log,
      cwd: join(ROOT, 'lab', 'go'),
      env: { ...process.env, CGO_ENABLED: '0' },
    });
    // Go leaves an unchanged binary alone: say that it was compared with the sources just now.
    spawnSync('touch', [LAB]);
  },
};

/** Whether this Python is 3.11 or later and can make environments: Debian packs the latter apart. */
function canMakeEnvironments(python) {
  const probe = 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))';
  return python !== null && spawnSync(python, ['-c', probe]).status === 0;
}

const pythonPackages = {
  name: 'python',
  what: "the model's Python packages",
  check() {
    if (!existsSync(PYTHON) || !existsSync(PYTHON_STAMP)) return 'not installed';
    return readFileSync(PYTHON_STAMP, 'utf8') === fingerprint('model', 'python', 'requirements.txt')
      ? ''
      : 'older than model/python/requirements.txt';
  },
  async run({ log, asRoot }) {
    let python = findOnPath('python3');
    if (!canMakeEnvironments(python)) {
      if (!findOnPath('apt-get'))
        throw new SetupError('Python 3.11 or later with venv is missing and this system has no apt-get');
      await aptInstall(['python3', 'python3-venv'], { log, asRoot });
      python = '/usr/bin/python3';
      if (!canMakeEnvironments(python))
        throw new SetupError('the model needs Python 3.11 or later with venv');
    }
    // What an older list of packages has installed goes.
    rmSync(PYTHON_FOLDER, { recursive: true, force: true });
    await runLogged(python, ['-m', 'venv', PYTHON_FOLDER], { log });
    const requirements = join(ROOT, 'model', 'python', 'requirements.txt');
    const options = [
      '--require-hashes',
      '--no-deps',
      '--only-binary',
      ':all:',
      '--disable-pip-version-check',
    ];
    await runLogged(PYTHON, ['-m', 'pip', 'install', ...options, '-r', requirements], { log });
    writeFileSync(PYTHON_STAMP, fingerprint('model', 'python', 'requirements.txt'));
  },
};

/** What each command needs, in order. Only what verifies transfers by libcurl. */
export const STEPS = {
  /** `npm start` with a URL, and in the lab. */
  live: [packages, build, chromium, libcurl],
  lab: [packages, build, chromium, libcurl, lab],
  /** `npm run lab`: loads, a check of replays, and bulk transfers without a browser. */
  matrix: [packages, build, chromium, headlessShell, lab],
  check: [packages, build, chromium, lab],
  pcwnd: [packages, build, lab],
  /** `npm run bench:udp` and `bench:probe`: one load of a page, then probes. */
  udp: [packages, build, chromium, headlessShell, libcurl, lab],
  /** `npm run record`, alone and with its check in the lab. */
  record: [packages, build, chromium],
  recordAndCheck: [
    packages,
    build,
    chromium,
    { ...lab, optional: 'the recording will not be checked in the lab' },
  ],
  /** `hopwise-host`, the helper. */
  helper: [packages, build, libcurl],
  /** `npm run model`: Python alone. */
  model: [pythonPackages],
  /** Helps, and judging what was measured. */
  built: [packages, build],
  /** Everything, for set-up itself and for the tests. */
  all: [packages, build, chromium, headlessShell, firefox, certutil, libcurl, lab, pythonPackages],
};

/** Why this user may not have a lab, or an empty string; null as long as none is built. */
export function labObstacle() {
  if (lab.check() !== '') return null;
  const doctor = spawnSync(LAB, ['doctor'], { encoding: 'utf8' });
  return doctor.status === 0 ? '' : lastLine(doctor.stderr ?? '');
}

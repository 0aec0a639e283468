/**
 * The steps of set-up. A step says whether it is done (`check`, which changes nothing) and does it (`run`). Node's own
 * modules only: they run before any package is installed. `after` names the steps that come first where they are needed too; the
 * others run side by side.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  certificates,
  certutil,
  chromium,
  firefox,
  headlessShell,
  installPackages,
  testPrograms,
} from './debian.mjs';
import { goPath, oldestGo } from './go.mjs';
import {
  findOnPath,
  lastLine,
  nodePath,
  pathWithoutOwnNode,
  ROOT,
  requireNode24,
  runLogged,
  SetupError,
} from './programs.mjs';
import { BUILD } from './toolchain.mjs';

const PACKAGES_STAMP = join(ROOT, 'node_modules', '.hopwise-packages');
export const HOST = join(ROOT, 'native-host', 'dist', 'bin', 'hopwise-host.js');
const PACKAGES = [
  'contract',
  'pageload-emulator',
  'native-host',
  'model',
  'extension',
  'lab',
  'server',
  'e2e',
];
const LAB = join(ROOT, 'lab', 'go', 'bin', 'hopwise-lab');
const PYTHON_FOLDER = join(ROOT, '.cache', 'model-python');
/** Has Python keep what it compiles, of the packages and of the model's sources, so that none lies among these. Empty is as if it were not set. */
export const PYTHON_BYTECODE = {
  PYTHONPYCACHEPREFIX: join(PYTHON_FOLDER, 'bytecode'),
  PYTHONDONTWRITEBYTECODE: '',
};
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

const BUILT_STAMP = join(ROOT, 'e2e', 'dist', '.built');

/** Notes that the build is newer than its sources. */
export function markBuilt() {
  writeFileSync(BUILT_STAMP, '');
}

const build = {
  name: 'build',
  after: ['packages'],
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
    return existsSync(BUILT_STAMP) && statSync(BUILT_STAMP).mtimeMs >= sources
      ? ''
      : 'older than its sources';
  },
  async run({ log }) {
    for (const [script, ...options] of BUILD)
      await runLogged(nodePath(), [join(ROOT, script), ...options], { log });
    markBuilt();
  },
};

const libcurl = {
  name: 'libcurl',
  after: ['build', 'certificates'],
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

const go = {
  name: 'go',
  after: ['packages', 'certificates'],
  what: 'Go for the lab',
  check: () => (goPath() ? '' : `none on the PATH that is ${oldestGo()} or later`),
  async run({ log }) {
    try {
      await runLogged(nodePath(), [join(ROOT, 'scripts/setup/fetch-go.ts')], { log });
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      throw new SetupError(`${error.message}\n  without the lab: npm start -- https://example.org/`);
    }
  },
};

const lab = {
  name: 'lab',
  after: ['packages', 'certificates', 'go'],
  what: 'the lab (replay server and emulated link)',
  check() {
    if (!existsSync(LAB)) return 'not built';
    const sources = newest([join(ROOT, 'lab', 'go')], (path) => /\.go$|go\.(mod|sum)$/.test(path));
    return statSync(LAB).mtimeMs >= sources ? '' : 'older than its sources';
  },
  async run({ log }) {
    await runLogged(goPath(), ['build', '-trimpath', '-o', LAB, '.'], {
      log,
      cwd: join(ROOT, 'lab', 'go'),
      env: { ...process.env, CGO_ENABLED: '0' },
    });
    // Go leaves an unchanged binary alone: say that it was compared with the sources just now.
    spawnSync('touch', [LAB]);
  },
};

const DEBIANS_PYTHON = '/usr/bin/python3';

/** Whether this Python is 3.11 or later and can make environments: Debian packs the latter apart. */
function canMakeEnvironments(python) {
  const probe = 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))';
  return python !== null && spawnSync(python, ['-c', probe]).status === 0;
}

const python = {
  name: 'python',
  what: 'Python 3.11 or later with venv',
  check() {
    return existsSync(PYTHON) || canMakeEnvironments(findOnPath('python3')) ? '' : 'not installed';
  },
  async run({ log, asRoot }) {
    await installPackages(['python3', 'python3-venv'], this.what, { log, asRoot });
    if (!canMakeEnvironments(DEBIANS_PYTHON)) throw new SetupError(`the model needs ${this.what}`);
  },
};

const pythonPackages = {
  name: 'python-packages',
  after: ['python'],
  what: "the model's Python packages",
  check() {
    if (!existsSync(PYTHON) || !existsSync(PYTHON_STAMP)) return 'not installed';
    return readFileSync(PYTHON_STAMP, 'utf8') === fingerprint('model', 'python', 'requirements.txt')
      ? ''
      : 'older than model/python/requirements.txt';
  },
  async run({ log }) {
    const found = findOnPath('python3');
    // What an older list of packages has installed goes.
    rmSync(PYTHON_FOLDER, { recursive: true, force: true });
    await runLogged(canMakeEnvironments(found) ? found : DEBIANS_PYTHON, ['-m', 'venv', PYTHON_FOLDER], {
      log,
    });
    const requirements = join(ROOT, 'model', 'python', 'requirements.txt');
    const options = [
      '--require-hashes',
      '--no-deps',
      '--only-binary',
      ':all:',
      '--disable-pip-version-check',
      // Python compiles what it imports, into `PYTHON_BYTECODE`: far from all.
      '--no-compile',
    ];
    await runLogged(PYTHON, ['-m', 'pip', 'install', ...options, '-r', requirements], { log });
    writeFileSync(PYTHON_STAMP, fingerprint('model', 'python', 'requirements.txt'));
  },
};

const BUILT = [packages, build];
const LAB_STEPS = [certificates, go, lab];
const TESTS = [
  ...BUILT,
  chromium,
  headlessShell,
  firefox,
  certutil,
  testPrograms,
  certificates,
  libcurl,
  go,
  lab,
  python,
];

/** What each command needs; a step stands behind those that it comes after. Only what verifies transfers needs libcurl. */
export const STEPS = {
  /** `npm run build` and `lint`; Node 24 for `npm run test:fresh`. */
  packages: [packages],
  /** Helps, and judging what was measured. */
  built: BUILT,
  /** `npm start` with a URL, and in the lab. */
  live: [...BUILT, chromium, certificates, libcurl],
  lab: [...BUILT, chromium, certificates, libcurl, go, lab],
  /** `npm run lab`: loads, a check of replays, and bulk transfers without a browser. */
  matrix: [...BUILT, chromium, headlessShell, ...LAB_STEPS],
  check: [...BUILT, chromium, ...LAB_STEPS],
  pcwnd: [...BUILT, ...LAB_STEPS],
  /** `npm run bench -- udp` and `probe`: one load of a page, then probes. */
  udp: [...BUILT, chromium, headlessShell, certificates, libcurl, go, lab],
  /** `npm run lab -- record`, alone and with its check in the lab. */
  record: [...BUILT, chromium],
  recordAndCheck: [
    ...BUILT,
    chromium,
    ...LAB_STEPS.map((step) => ({ ...step, optional: 'the recording will not be checked in the lab' })),
  ],
  /** `hopwise-host`, the helper. */
  helper: [...BUILT, certificates, libcurl],
  /** `npm run model`: Python alone. */
  model: [python, pythonPackages],
  /** `npm test`, which installs the model's packages beside its first tests. */
  tests: TESTS,
  /** Everything. */
  all: [...TESTS, pythonPackages],
};

/** Why this user may not have a lab, or an empty string; null as long as none is built. */
export function labObstacle() {
  if (lab.check() !== '') return null;
  const doctor = spawnSync(LAB, ['doctor'], { encoding: 'utf8' });
  return doctor.status === 0 ? '' : lastLine(doctor.stderr ?? '');
}

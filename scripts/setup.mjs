/**
 * Set-up: everything that `npm start` and `npm test` need on a fresh Debian 12 machine with Node 20
 * or later and Go. Runs before any package is installed, so it uses Node's own modules only.
 *
 * A step says whether it is done (`check`, which changes nothing) and does it (`run`). A step that
 * is done is never run again.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGES_STAMP = join(ROOT, 'node_modules', '.hopwise-packages');
const HOST = join(ROOT, 'native-host', 'dist', 'bin', 'hopwise-host.js');
/** Holds the id of the process that is setting up. */
const LOCK = join(ROOT, '.cache', 'setup.lock');
const LAB = join(ROOT, 'e2e', 'lab', 'bin', 'hopwise-lab');

/** A reason to stop that a person can act on; printed as one line. */
export class SetupError extends Error {}

/** PATH without this checkout's own node_modules: `npm ci` removes the Node that lives there. */
function pathWithoutOwnNode() {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((dir) => !dir.includes(join('node_modules', '.bin')))
    .join(delimiter);
}

function findOnPath(name) {
  for (const dir of pathWithoutOwnNode().split(delimiter)) {
    const file = join(dir, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this directory.
    }
  }
  return null;
}

/** Node 24 of the dev dependencies once it is there, until then the one that runs this. */
export function nodePath() {
  const own = join(ROOT, 'node_modules', 'node', 'bin', 'node');
  return existsSync(own) ? own : process.execPath;
}

/** What builds and tests write into the rooms. */
const NOT_SOURCES = ['node_modules', 'dist', 'test', 'tests', 'test-results', 'playwright-report', '.git'];

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

/** Runs a program to its end; its output goes to `log`, the last lines into the error. */
function runLogged(file, args, { log, cwd = ROOT, env = process.env }) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const take = (chunk) => {
      output = (output + chunk).slice(-20_000);
      log(String(chunk));
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', (error) => reject(new SetupError(`${file}: ${error.message}`)));
    child.on('close', (code) => {
      if (code === 0) resolve();
      else {
        const lines = output.split('\n').filter((line) => line.trim() !== '');
        // npm says what went wrong first and how to call it last; compilers say it all as errors.
        const errors = lines.filter((line) => /error|fatal|cannot|no such/i.test(line)).slice(0, 8);
        const told = (errors.length > 0 ? errors : lines.slice(-8)).map((line) => `\n  ${line}`).join('');
        reject(new SetupError(`\`${file} ${args.join(' ')}\` ended with code ${code}:${told}`));
      }
    });
  });
}

function packagesFingerprint() {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
}

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
    await runLogged(npm, ['ci', '--no-audit', '--no-fund'], { log, env });
    writeFileSync(PACKAGES_STAMP, packagesFingerprint());
  },
};

const build = {
  name: 'build',
  what: 'TypeScript and the extension bundle',
  check() {
    const rooms = ['pageload-emulator', 'native-host', 'extension', 'e2e'];
    const sources = newest(
      [...rooms.map((room) => join(ROOT, room)), join(ROOT, 'tsconfig.base.json'), PACKAGES_STAMP],
      (path) => /\.(ts|mjs|css|html|json|svg|png)$|hopwise-packages$/.test(path),
    );
    const outputs = [
      HOST,
      join(ROOT, 'extension/dist/chromium/manifest.json'),
      join(ROOT, 'e2e/dist/report/client.js'),
    ];
    if (outputs.some((path) => !existsSync(path))) return 'not built';
    const stamp = join(ROOT, 'e2e', 'dist', '.built');
    return existsSync(stamp) && statSync(stamp).mtimeMs >= sources ? '' : 'older than its sources';
  },
  async run({ log }) {
    const node = nodePath();
    await runLogged(node, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-b'], { log });
    await runLogged(node, [join(ROOT, 'extension/build.mjs')], { log });
    await runLogged(node, [join(ROOT, 'e2e/build.mjs')], { log });
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

const libcurl = {
  name: 'libcurl',
  what: 'libcurl with HTTP/3',
  check() {
    if (!existsSync(HOST)) return 'known once the build is done';
    const result = spawnSync(nodePath(), [HOST, 'setup', '--check'], { encoding: 'utf8' });
    return result.status === 0 ? '' : lastLine(result.stderr || result.stdout) || 'not installed';
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
    const sources = newest([join(ROOT, 'e2e', 'lab')], (path) => /\.go$|go\.(mod|sum)$/.test(path));
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
      cwd: join(ROOT, 'e2e', 'lab'),
      env: { ...process.env, CGO_ENABLED: '0' },
    });
    // Go leaves an unchanged binary alone: say that it was compared with the sources just now.
    spawnSync('touch', [LAB]);
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
  /** `npm run record`, alone and with its check in the lab. */
  record: [packages, build, chromium],
  recordAndCheck: [
    packages,
    build,
    chromium,
    { ...lab, optional: 'the recording will not be checked in the lab' },
  ],
  /** Helps, and judging what was measured. */
  built: [packages, build],
  /** Everything, for set-up itself and for the tests. */
  all: [packages, build, chromium, headlessShell, libcurl, lab],
};

function lastLine(text) {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}

/** The answer; empty for Ctrl-C and Ctrl-D. */
function question(text, streams) {
  return new Promise((resolve) => {
    const ask = createInterface(streams);
    ask.on('SIGINT', () => ask.close());
    ask.on('close', () => resolve(''));
    ask.question(text, (answer) => {
      resolve(answer);
      ask.close();
    });
  });
}

/** Asks for leave to use root; returns the words to put before a command. */
export async function rootPrefix(why, { yes, input = process.stdin, output = process.stderr }) {
  const isRoot = process.getuid?.() === 0;
  const sudo = findOnPath('sudo');
  if (!isRoot && !sudo)
    throw new SetupError(`root is needed to ${why}, and there is no sudo: do it as root, then start again`);
  if (input.isTTY && !yes) {
    const answer = await question(
      `hopwise would like to ${why}${isRoot ? '' : ' with sudo'}. Go ahead? [y/N] `,
      {
        input,
        output,
      },
    );
    if (!/^y(es)?$/i.test(answer.trim())) throw new SetupError(`not done: ${why}`);
  }
  if (isRoot) return [];
  if (!input.isTTY) return [sudo, '-n'];
  // Now, while nothing else is printed: sudo asks for the password.
  if (spawnSync(sudo, ['-v'], { stdio: 'inherit' }).status !== 0)
    throw new SetupError(`sudo refused, and root is needed to ${why}: do it as root, then start again`);
  return [sudo];
}

/** Prints what is there and what is missing; changes nothing. Returns whether all is there. */
export function checkSetup(steps = STEPS.all, print = (line) => console.log(line)) {
  let complete = true;
  for (const step of steps) {
    const missing = step.check();
    complete &&= missing === '' || step.optional !== undefined;
    print(
      `${missing === '' ? 'ok     ' : step.optional ? 'absent ' : 'missing'}  ${step.name.padEnd(10)} ${step.what}${missing ? `: ${missing}` : ''}`,
    );
  }
  if (steps.includes(lab) && lab.check() === '') {
    const doctor = spawnSync(LAB, ['doctor'], { encoding: 'utf8' });
    const obstacle = lastLine(doctor.stderr ?? '');
    // Nothing that set-up could install: the live run works without it.
    print(
      doctor.status === 0
        ? 'ok       rights     for the lab'
        : `absent   rights     for the lab: ${obstacle}`,
    );
  }
  return complete;
}

function lockOwner() {
  try {
    return Number(readFileSync(LOCK, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Waits for its turn: two at once would install into the same folders. */
async function lock(print) {
  for (let waits = 0; ; waits++) {
    try {
      mkdirSync(dirname(LOCK), { recursive: true });
      writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    } catch (error) {
      if (['EACCES', 'EPERM', 'EROFS'].includes(error.code))
        throw new SetupError(`${error.message}: set up as the user that ${ROOT} belongs to`);
      if (error.code !== 'EEXIST') throw error;
      const owner = lockOwner();
      // Zero while its owner has not yet written who it is.
      if (owner !== null && owner !== 0 && !isAlive(owner)) rmSync(LOCK, { force: true });
      else if (waits === 0) print(`set-up: waits for the one that is under way (process ${owner})`);
      await sleep(200);
      continue;
    }
    // Who took a dead process's lock away may have taken this one.
    await sleep(50);
    if (lockOwner() === process.pid) return;
  }
}

/**
 * Does every step that is not done.
 *
 * @param options.yes     do not ask before using root
 * @param options.verbose show what the programs print
 * @throws SetupError with one line that says what is missing and how to mend it
 */
export async function runSetup(steps, { yes = false, verbose = false } = {}) {
  const print = (line) => process.stderr.write(`${line}\n`);
  if (steps.every((step) => step.check() === '')) return;
  await lock(print);
  try {
    await doSteps(steps, { yes, verbose, print });
  } finally {
    rmSync(LOCK, { force: true });
  }
}

async function doSteps(steps, { yes, verbose, print }) {
  const started = Date.now();
  let done = 0;
  for (const step of steps) {
    const missing = step.check();
    if (missing === '') continue;
    done += 1;
    const stepStarted = Date.now();
    print(`set-up: ${step.what} (${missing}) …`);
    let latest = '';
    let asking = false;
    const log = (text) => {
      if (verbose) process.stderr.write(text);
      latest = lastLine(text) || latest;
    };
    // Compilers are silent until they are done.
    const clock = setInterval(() => {
      const seconds = Math.round((Date.now() - stepStarted) / 1000);
      if (!verbose && !asking) print(`        ${seconds} s${latest ? `: ${latest.slice(0, 100)}` : ''}`);
    }, 5000);
    const asRoot = async (why) => {
      asking = true;
      const prefix = await rootPrefix(why, { yes });
      asking = false;
      return prefix;
    };
    try {
      await step.run({ log, asRoot });
    } catch (error) {
      if (!step.optional || !(error instanceof SetupError)) throw error;
      print(`        ${error.message.split('\n')[0]}: ${step.optional}`);
      continue;
    } finally {
      clearInterval(clock);
    }
    const still = step.check();
    if (still !== '') throw new SetupError(`set-up of ${step.what} ran, but it is still missing: ${still}`);
    print(`        done in ${((Date.now() - stepStarted) / 1000).toFixed(1)} s`);
  }
  if (done > 0) print(`set-up: complete after ${Math.round((Date.now() - started) / 1000)} s\n`);
}

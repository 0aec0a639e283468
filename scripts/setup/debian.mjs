/** Steps of set-up that install packages of Debian. Node's own modules only. */
import { existsSync } from 'node:fs';
import { findOnPath, runLogged, SetupError } from './programs.mjs';

/** Chromium to drive: `HOPWISE_CHROMIUM`, else Debian's. Chrome itself no longer takes unpacked extensions. */
export function chromiumPath() {
  const named = process.env.HOPWISE_CHROMIUM;
  if (named) return existsSync(named) ? named : null;
  return ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path)) ?? null;
}

/** apt lets one installation in at a time. */
let lastInstallation = Promise.resolve();

/** Installs packages with apt. @param prefix what makes a command run as root */
function installAsRoot(prefix, names, log) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const [program, ...before] = [...prefix, 'apt-get'];
  const installation = lastInstallation.then(async () => {
    for (const words of [['update'], ['install', '-y', '--no-install-recommends', ...names]])
      await runLogged(program, [...before, ...words], { log, env });
  });
  lastInstallation = installation.catch(() => {});
  return installation;
}

function askForRoot(names, what, asRoot) {
  if (!findOnPath('apt-get'))
    throw new SetupError(`${what} is missing and this system has no apt-get: install it`);
  return asRoot(`install Debian's package${names.length > 1 ? 's' : ''} ${names.join(', ')}`);
}

/**
 * Installs packages with apt, as root.
 *
 * @param what in words, for systems without apt
 */
export async function installPackages(names, what, { log, asRoot }) {
  await installAsRoot(await askForRoot(names, what, asRoot), names, log);
}

/**
 * Joins the steps that install programs into one, in the place of the first: a person is asked once, and apt reads its lists
 * once. Where apt refuses them together, each is tried alone; those that are optional may then be missing.
 */
export function joinPrograms(steps) {
  const programs = steps.filter((step) => step.packages && step.check() !== '');
  if (programs.length < 2) return steps;
  const what = programs.map((step) => step.what).join(', ');
  const names = programs.flatMap((step) => step.packages);
  const without = new Set();
  const joined = {
    name: 'programs',
    names: programs.map(({ name }) => name),
    what,
    check: () =>
      programs
        .filter((step) => !without.has(step))
        .map((step) => step.check())
        .find((missing) => missing !== '') ?? '',
    async run({ log, asRoot, print }) {
      const prefix = await askForRoot(names, what, asRoot);
      try {
        return await installAsRoot(prefix, names, log);
      } catch (error) {
        if (!(error instanceof SetupError)) throw error;
      }
      for (const step of programs) {
        try {
          await installAsRoot(prefix, step.packages, log);
        } catch (error) {
          if (!step.optional || !(error instanceof SetupError)) throw error;
          print(`        ${error.message.split('\n')[0]}: ${step.optional}`);
          without.add(step);
        }
      }
    },
  };
  const first = steps.indexOf(programs[0]);
  return [...steps.slice(0, first), joined, ...steps.slice(first).filter((step) => !programs.includes(step))];
}

/**
 * A step that is done where the user names a program or the machine has one.
 *
 * @param {object} program
 * @param {string} [program.variable] the environment variable that names another
 * @param {() => unknown} program.isInstalled
 * @param {string} [program.optional] what it means to be without it
 */
function programStep({ name, what, packages, variable = '', isInstalled, optional }) {
  const named = process.env[variable];
  const check = () => {
    if (named) return existsSync(named) ? '' : `${variable} names ${named}, which is not there`;
    return isInstalled() ? '' : 'not installed';
  };
  return {
    name,
    what,
    // A program that the user names is not installed in its place.
    ...(!named && { packages }),
    ...(optional && { optional }),
    check,
    async run(options) {
      // Debian's would not be used.
      if (named) throw new SetupError(`${check()}: set it to the path of a ${what}, or unset it`);
      await installPackages(packages, what, options);
    },
  };
}

export const chromium = programStep({
  name: 'chromium',
  what: 'Chromium',
  // The sandbox and one font are only recommended by the first.
  packages: ['chromium', 'chromium-sandbox', 'fonts-liberation'],
  variable: 'HOPWISE_CHROMIUM',
  isInstalled: chromiumPath,
});

/** Chromium that shows nothing and so leaves more of the processor to what is measured. */
export const headlessShell = programStep({
  name: 'headless',
  what: 'headless shell',
  packages: ['chromium-headless-shell'],
  variable: 'HOPWISE_HEADLESS_SHELL',
  isInstalled: () => existsSync('/usr/bin/chromium-headless-shell'),
  optional: 'loads will be measured in the full browser, which costs more processor time',
});

/** Firefox of the extension's tests. */
export const firefox = programStep({
  name: 'firefox',
  what: 'Firefox',
  packages: ['firefox-esr'],
  variable: 'HOPWISE_FIREFOX',
  isInstalled: () => ['/usr/bin/firefox-esr', '/usr/bin/firefox'].some((path) => existsSync(path)),
  optional: 'the tests in Firefox will be skipped',
});

/** Writes to the browsers' certificate stores: `hopwise-host ca trust` and its tests. */
export const certutil = programStep({
  name: 'certutil',
  what: "NSS's certutil",
  packages: ['libnss3-tools'],
  isInstalled: () => findOnPath('certutil'),
});

/** Go's module proxy and transfers by libcurl are checked against them. These are where Go and libcurl look on several systems. */
export const certificates = programStep({
  name: 'certificates',
  what: "the system's CA certificates",
  packages: ['ca-certificates'],
  isInstalled: () =>
    [process.env.SSL_CERT_FILE, '/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/cert.pem'].some(
      (path) => path && existsSync(path),
    ),
});

/** Programs that tests call, by the packages that hold them: the smallest Debian lacks some. */
const TEST_PROGRAMS = { curl: 'curl', git: 'git', iproute2: 'ip', openssl: 'openssl' };

export const testPrograms = programStep({
  name: 'programs',
  what: `${Object.values(TEST_PROGRAMS).join(', ')} for tests`,
  packages: Object.keys(TEST_PROGRAMS),
  isInstalled: () => Object.values(TEST_PROGRAMS).every((name) => findOnPath(name)),
});

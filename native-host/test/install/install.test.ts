import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXTENSION_ID, FIREFOX_EXTENSION_ID, HOST_NAME } from '@hopwise/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { HEAP_ARGUMENTS, MALLOC_SETTINGS } from '../../src/base/memory-settings.ts';
import { browsers } from '../../src/install/browsers.ts';
import { fixFor, install, launcherFile, uninstall } from '../../src/install/install.ts';
import { registrationProblem } from '../../src/install/registration.ts';

const IDS = { chromium: EXTENSION_ID, firefox: FIREFOX_EXTENSION_ID };
const FILES: Record<string, string> = {
  chromium: '.config/chromium/NativeMessagingHosts',
  chrome: '.config/google-chrome/NativeMessagingHosts',
  edge: '.config/microsoft-edge/NativeMessagingHosts',
  brave: '.config/BraveSoftware/Brave-Browser/NativeMessagingHosts',
  firefox: '.mozilla/native-messaging-hosts',
};

let home: string;
let script: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hopwise home's "));
  vi.stubEnv('HOME', home);
  vi.stubEnv('XDG_CONFIG_HOME', '');
  vi.stubEnv('XDG_DATA_HOME', join(home, 'data'));
  script = join(home, 'script.mjs');
  writeFileSync(script, 'console.log(JSON.stringify(process.argv.slice(2)))');
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

function manifestOf(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, `${HOST_NAME}.json`), 'utf8')) as Record<string, unknown>;
}

describe('install', () => {
  it('registers with every browser when none is found', async () => {
    const done = await install({ ids: IDS, script });
    expect(done).toHaveLength(5);
    const launcher = join(home, 'data', 'hopwise', 'hopwise-host.sh');
    for (const [id, folder] of Object.entries(FILES)) {
      const manifest = manifestOf(join(home, folder));
      expect(manifest).toMatchObject({ name: HOST_NAME, path: launcher, type: 'stdio' });
      if (id === 'firefox') {
        expect(manifest.allowed_extensions).toEqual([FIREFOX_EXTENSION_ID]);
        expect(manifest).not.toHaveProperty('allowed_origins');
      } else {
        expect(manifest.allowed_origins).toEqual([`chrome-extension://${EXTENSION_ID}/`]);
        expect(manifest).not.toHaveProperty('allowed_extensions');
      }
    }
    for (const browser of browsers()) expect(registrationProblem(browser, IDS)).toBe('');
  });

  it('registers with the browsers that are found', async () => {
    mkdirSync(join(home, '.config', 'google-chrome'), { recursive: true });
    const done = await install({ ids: IDS, script });
    expect(done.map(({ browser }) => browser)).toEqual(['Google Chrome']);
  });

  it('finds Firefox by its profiles, which have moved while its manifests have not', async () => {
    mkdirSync(join(home, '.config', 'mozilla', 'firefox'), { recursive: true });
    const done = await install({ ids: IDS, script });
    expect(done).toEqual([
      { browser: 'Firefox', manifestFile: join(home, FILES.firefox!, `${HOST_NAME}.json`) },
    ]);
  });

  it('registers with those that are named', async () => {
    const done = await install({ ids: IDS, script, browsers: ['firefox', 'edge'] });
    expect(done.map(({ browser }) => browser)).toEqual(['Microsoft Edge', 'Firefox']);
  });

  it('uses only the given profile folder', async () => {
    const profile = join(home, 'profile');
    await install({ ids: IDS, script, userDataDirectory: profile });
    expect(manifestOf(join(profile, 'NativeMessagingHosts')).path).toBe(
      join(profile, 'NativeMessagingHosts', 'hopwise-host.sh'),
    );
    expect(readdirSync(home).sort()).toEqual(['profile', 'script.mjs']);
  });

  it.runIf(process.platform === 'linux')('ends with one line where no folder can be created', async () => {
    const file = join(home, 'file');
    writeFileSync(file, '');
    for (const [userDataDirectory, code] of [
      ['/proc/hopwise', 'ENOENT'],
      [file, 'ENOTDIR'],
    ] as const) {
      const folder = join(userDataDirectory, 'NativeMessagingHosts');
      await expect(install({ ids: IDS, script, userDataDirectory })).rejects.toThrow(
        `${join(folder, 'hopwise-host.sh')} cannot be changed (${code}): ` +
          `${folder} has to be a folder, or a path at which one can be created`,
      );
    }
  });

  it('asks for room on a full disk, and for rights where these are missing', () => {
    expect(fixFor('ENOSPC', '/a')).toBe('make room on its disk');
    expect(fixFor('EROFS', '/a')).toBe('make /a writable');
  });

  it('makes a launcher that starts Node with the script, whatever the path and the environment', async () => {
    await install({ ids: IDS, script });
    expect(statSync(launcherFile()).mode & 0o111).toBe(0o111);
    const output = execFileSync(launcherFile(), ['chrome-extension://x/', "it's"], {
      env: {},
      encoding: 'utf8',
    });
    expect(JSON.parse(output)).toEqual(['chrome-extension://x/', "it's"]);
  });

  it('makes a launcher that keeps the host small and passes on its own path', async () => {
    writeFileSync(script, 'console.log(JSON.stringify([process.execArgv, process.env]))');
    await install({ ids: IDS, script });
    const [words, env] = JSON.parse(execFileSync(launcherFile(), { encoding: 'utf8' })) as unknown[];
    expect(words).toEqual(HEAP_ARGUMENTS);
    expect(env).toMatchObject({ ...MALLOC_SETTINGS, HOPWISE_LAUNCHER: launcherFile() });
  });

  it('replaces an earlier install', async () => {
    await install({ ids: { ...IDS, chromium: 'a'.repeat(32) }, script, browsers: ['chromium'] });
    await install({ ids: IDS, script, browsers: ['chromium'] });
    expect(manifestOf(join(home, FILES.chromium!)).allowed_origins).toEqual([
      `chrome-extension://${EXTENSION_ID}/`,
    ]);
    expect(readdirSync(join(home, FILES.chromium!))).toEqual([`${HOST_NAME}.json`]);
  });

  it('follows no link where it writes, and lets no other user write, whatever the umask', async () => {
    const manifests = join(home, FILES.chromium!);
    const kept = join(home, 'kept');
    mkdirSync(manifests, { recursive: true });
    writeFileSync(kept, 'mine');
    symlinkSync(kept, join(manifests, `${HOST_NAME}.json`));
    symlinkSync(kept, join(manifests, `${HOST_NAME}.json.${process.pid}.new`));
    const umask = process.umask(0);
    try {
      await install({ ids: IDS, script, browsers: ['chromium'] });
    } finally {
      process.umask(umask);
    }
    expect(readFileSync(kept, 'utf8')).toBe('mine');
    expect(manifestOf(manifests).name).toBe(HOST_NAME);
    expect(readdirSync(manifests)).toEqual([`${HOST_NAME}.json`]);
    for (const path of ['data', 'data/hopwise', 'data/hopwise/hopwise-host.sh'])
      expect([path, statSync(join(home, path)).mode & 0o022]).toEqual([path, 0]);
  });

  it.each(['', '*', 'z'.repeat(32), `${'a'.repeat(32)}/`, '../../etc'])(
    'refuses the extension id %j',
    async (chromium) => {
      await expect(install({ ids: { ...IDS, chromium }, script })).rejects.toThrow(UsageError);
      expect(readdirSync(home)).toEqual(['script.mjs']);
    },
  );
});

describe('uninstall', () => {
  it('leaves nothing', async () => {
    await install({ ids: IDS, script });
    const removed = await uninstall();
    expect(removed).toHaveLength(6);
    expect(readdirSync(home, { recursive: true }).sort()).toEqual(['.config', 'data', 'script.mjs']);
    expect(await uninstall()).toEqual([]);
  });

  it('removes a link that leads nowhere', async () => {
    const manifest = join(home, FILES.chromium!, `${HOST_NAME}.json`);
    mkdirSync(join(home, FILES.chromium!), { recursive: true });
    symlinkSync('/nowhere', manifest);
    expect(await uninstall()).toEqual([manifest]);
  });

  it('leaves what is not its own', async () => {
    await install({ ids: IDS, script, browsers: ['chromium'] });
    const other = join(home, FILES.chromium!, 'other.json');
    writeFileSync(other, '{}');
    await uninstall();
    expect(existsSync(other)).toBe(true);
  });

  it('unregisters one browser and leaves the others working', async () => {
    await install({ ids: IDS, script, browsers: ['chromium', 'firefox'] });
    await uninstall({ browsers: ['firefox'] });
    const [chromium] = browsers();
    expect(registrationProblem(chromium!, IDS)).toBe('');
    expect(existsSync(join(home, '.mozilla'))).toBe(false);
  });

  it('unregisters a profile folder', async () => {
    const profile = join(home, 'profile');
    mkdirSync(profile);
    writeFileSync(join(profile, 'Preferences'), '{}');
    await install({ ids: IDS, script, userDataDirectory: profile });
    await uninstall({ userDataDirectory: profile });
    expect(readdirSync(profile)).toEqual(['Preferences']);
  });
});

describe('other systems', () => {
  const here = process.platform;
  const pretend = (platform: NodeJS.Platform) =>
    Object.defineProperty(process, 'platform', { value: platform });
  afterEach(() => pretend(here));

  it('macOS has manifests in the folders of browsers, Brave in that of Chrome', async () => {
    pretend('darwin');
    const support = join(home, 'Library', 'Application Support');
    await install({ ids: IDS, script });
    const folders = ['Chromium', 'Google/Chrome', 'Microsoft Edge', 'Google/Chrome', 'Mozilla'];
    expect(browsers().map(({ manifestFile }) => manifestFile)).toEqual(
      folders.map((folder) => join(support, folder, 'NativeMessagingHosts', `${HOST_NAME}.json`)),
    );
    for (const browser of browsers()) expect(registrationProblem(browser, IDS)).toBe('');
    mkdirSync(join(support, 'Google', 'Chrome', 'Default'));
    expect(await uninstall({ browsers: ['brave'] })).toEqual([]);
    expect(registrationProblem(browsers()[1]!, IDS)).toBe('');
    rmSync(join(support, 'Google', 'Chrome', 'Default'), { recursive: true });
    expect(await uninstall()).toHaveLength(5);
    expect(existsSync(support)).toBe(false);
  });

  it('Windows has manifests in the registry, Brave under the key of Chrome', async () => {
    const said = join(home, 'said');
    writeFileSync(join(home, 'reg'), `#!/bin/sh\necho "$*" >> '${said.replaceAll("'", "'\\''")}'\n`, {
      mode: 0o755,
    });
    vi.stubEnv('PATH', `${home}:${process.env.PATH}`);
    vi.stubEnv('LOCALAPPDATA', join(home, 'Local'));
    vi.stubEnv('APPDATA', join(home, 'Roaming'));
    pretend('win32');
    await install({ ids: IDS, script });
    const lines = () => readFileSync(said, 'utf8').trimEnd().split('\n');
    const vendors = ['Chromium', 'Google\\Chrome', 'Microsoft\\Edge', 'Google\\Chrome', 'Mozilla'];
    const keys = vendors.map((vendor) => `HKCU\\Software\\${vendor}\\NativeMessagingHosts\\${HOST_NAME}`);
    expect(lines()).toEqual(
      browsers().map(({ manifestFile }, index) => `add ${keys[index]} /ve /t REG_SZ /d ${manifestFile} /f`),
    );
    const launcher = join(home, 'Local', 'hopwise', 'hopwise-host.cmd');
    expect(readFileSync(launcher, 'utf8')).toBe(
      `@echo off\r\nsetlocal\r\nset "HOPWISE_LAUNCHER=%~f0"\r\n"${process.execPath}" "${HEAP_ARGUMENTS.join('" "')}" "${script}" %*\r\n`,
    );
    for (const browser of browsers()) expect(registrationProblem(browser, IDS)).toBe('');
    writeFileSync(said, '');
    await uninstall();
    expect(lines()).toEqual(keys.map((key) => `delete ${key} /f`));
    expect(existsSync(join(home, 'Local', 'hopwise'))).toBe(false);
  });
});

describe('registrationProblem', () => {
  const chromium = () => browsers()[0]!;
  beforeEach(() => install({ ids: IDS, script, browsers: ['chromium'] }));

  it('finds a missing manifest', () => {
    expect(registrationProblem(browsers()[1]!, IDS)).toBe('not registered');
  });
  it('finds a broken manifest', () => {
    writeFileSync(chromium().manifestFile, '{');
    expect(registrationProblem(chromium(), IDS)).toMatch(/it is not JSON$/);
  });
  it('finds the manifest of another program', () => {
    writeFileSync(
      chromium().manifestFile,
      JSON.stringify({ name: 'other', path: '/bin/true', type: 'stdio' }),
    );
    expect(registrationProblem(chromium(), IDS)).toMatch(/it is not a manifest of this host$/);
  });
  it('finds a launcher that cannot be executed', () => {
    chmodSync(launcherFile(), 0o644);
    expect(registrationProblem(chromium(), IDS)).toMatch(/missing or not executable$/);
  });
  it('finds a missing script', () => {
    rmSync(script);
    expect(registrationProblem(chromium(), IDS)).toMatch(/script\.mjs, which is gone$/);
  });
  it('finds another extension id', () => {
    expect(registrationProblem(chromium(), { ...IDS, chromium: 'b'.repeat(32) })).toBe(
      `it allows chrome-extension://${EXTENSION_ID}/, not chrome-extension://${'b'.repeat(32)}/`,
    );
  });
});

/** `npm run package`: archives, their sizes and contents, installers. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildDebianPackage } from '../../package/debian.ts';
import { findRemoteCode } from '../../package/extension.ts';
import { launcherScript } from '../../package/helper-tree.ts';
import { readLock, runtimeDependencies } from '../../package/npm-packages.ts';
import { readRelease } from '../../package/release.ts';
import { checkSizes } from '../../package/size-budgets.ts';
import { buildTarball, installScript, uninstallScript } from '../../package/tarball.ts';
import { writeZip } from '../../package/zip.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopwise-package-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string, mode = 0o644): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

const hash = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

describe('a store package', () => {
  test('has the same bytes whenever its files were written', async () => {
    const first = write('in/a.js', 'let a;');
    write('in/b/c.css', 'a {}');
    await writeZip(join(folder, 'in'), join(folder, 'one.zip'));
    utimesSync(first, 1, 1);
    await writeZip(join(folder, 'in'), join(folder, 'two.zip'));
    expect(hash(join(folder, 'two.zip'))).toBe(hash(join(folder, 'one.zip')));
  });

  test('packs the files in order, without those that are left out', async () => {
    for (const path of ['in/b.js', 'in/a.js', 'in/a.js.map']) write(path, path);
    const leaveOut = (path: string, contents: Buffer) => (path.endsWith('.map') ? null : contents);
    await writeZip(join(folder, 'in'), join(folder, 'out.zip'), leaveOut);
    const names = execFileSync('python3', ['-m', 'zipfile', '-l', join(folder, 'out.zip')], {
      encoding: 'utf8',
    });
    expect(names.match(/^[ab]\.\S+/gm)).toEqual(['a.js', 'b.js']);
  });

  test.each([
    ['<script src="https://cdn.example/x.js"></script>', ['a script from another server']],
    ['const one = await import("https://cdn.example/x.js");', ['an import from another server']],
    ['eval(text)', ['eval']],
    ['new Function("a", text)', ['the Function constructor']],
    ['<script src="popup.js"></script> // see https://example.org/', []],
    ['import { a } from "./model.js"; page.eval(text); retrieval()', []],
  ])('%s has as remote code: %s', (text, found) => {
    expect(findRemoteCode(text)).toEqual(found);
  });

  test('over its size says by how much', () => {
    const small = { file: 'worker.js', bytes: 60_000, maxBytes: 60_000 };
    expect(() => checkSizes([small])).not.toThrow();
    expect(() => checkSizes([small, { file: 'content.js', bytes: 8_001, maxBytes: 8_000 }])).toThrow(
      'content.js has 8001 bytes compressed, at most 8000 expected',
    );
  });
});

describe('a release', () => {
  test('every package has the version of the root', () => {
    const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
    const { version, workspaces } = read('package.json') as { version: string; workspaces: string[] };
    for (const name of workspaces) {
      const { version: own, dependencies = {} } = read(`${name}/package.json`);
      const siblings = Object.entries(dependencies).filter(([one]) => one.startsWith('@hopwise/'));
      expect([name, own, ...siblings.map(([, wanted]) => wanted)]).toEqual([
        name,
        version,
        ...siblings.map(() => version),
      ]);
    }
    expect(readRelease(ROOT).version).toBe(version);
  });

  test('takes its date from the newest entry of the change log', () => {
    write('package.json', '{"version": "1.2.0"}');
    write('CHANGELOG.md', '# Changes\n\n## 1.2.0, 1970-01-02\n\n## 1.1.0, 1970-01-01\n');
    expect(readRelease(folder)).toEqual({ version: '1.2.0', epochSeconds: 86_400 });
    write('package.json', '{"version": "1.3.0"}');
    expect(() => readRelease(folder)).toThrow(
      'expected "## 1.3.0, YYYY-MM-DD" as its first entry, found 1.2.0',
    );
  });
});

test("the helper's packages are found by way of others, with neither optional ones nor those of tests", () => {
  const names = runtimeDependencies(readLock(ROOT), 'native-host');
  expect(names).toEqual(
    expect.arrayContaining(['@hopwise/contract', 'commander', 'koffi', 'pvtsutils', 'zod']),
  );
  expect(names.filter((name) => /playwright|koromix|types\//.test(name))).toEqual([]);
});

/** A tree whose Node is a shell script that prints its arguments. */
function writeTree(): string {
  write('tree/bin/node', '#!/bin/sh\nprintf "%s\\n" "$HOPWISE_PACKAGE" "$HOPWISE_LAUNCHER" "$@"\n', 0o755);
  write('tree/bin/hopwise-host', launcherScript(), 0o755);
  write('tree/native-host/package.json', '{}');
  return join(folder, 'tree');
}

const RELEASE = { version: '1.2.0', epochSeconds: 86_400 };

describe('the launcher', () => {
  test('starts the Node beside it, by way of links and in a folder with spaces', () => {
    const tree = writeTree();
    const moved = join(folder, "a user's folder");
    execFileSync('mv', [tree, moved]);
    symlinkSync(join(moved, 'bin/hopwise-host'), join(folder, 'link'));
    const lines = execFileSync(join(folder, 'link'), ['probe', 'a b'], { encoding: 'utf8' }).split('\n');
    expect(lines.slice(0, 2)).toEqual([moved, join(folder, 'link')]);
    expect(lines.slice(-4)).toEqual([`${moved}/native-host/bin/hopwise-host.mjs`, 'probe', 'a b', '']);
  });
});

describe('the tarball', () => {
  const common = { depends: ['libc6 (>= 2.34)', 'zlib1g'], architecture: 'amd64', release: RELEASE } as const;

  test('has the same bytes on two runs', async () => {
    const tree = writeTree();
    const one = await buildTarball({ ...common, tree, target: join(folder, 'one') });
    utimesSync(join(tree, 'bin/node'), 1, 1);
    const two = await buildTarball({ ...common, tree, target: join(folder, 'two') });
    expect(hash(two)).toBe(hash(one));
  });

  const writePackage = (): string => {
    const tree = writeTree();
    write('tree/install.sh', installScript(), 0o755);
    write('tree/uninstall.sh', uninstallScript(), 0o755);
    return tree;
  };

  /** Runs a script of the package. @returns its exit status and what it wrote */
  const attempt = (script: string, env: NodeJS.ProcessEnv): [number | null, string] => {
    const options = { encoding: 'utf8', env: { ...process.env, ...env } } as const;
    const { status, stdout, stderr } = spawnSync(script, [], options);
    return [status, stderr || stdout];
  };

  test('installs, installs again and uninstalls below a prefix', () => {
    const tree = writePackage();
    const prefix = join(folder, 'my prefix');
    const run = (script: string) =>
      execFileSync(script, [], { encoding: 'utf8', env: { ...process.env, HOPWISE_PREFIX: prefix } });
    const installed = run(join(tree, 'install.sh'));
    expect(run(join(tree, 'install.sh'))).toBe(installed);
    expect(installed.split('\n')[0]).toBe(`${prefix}/lib/hopwise`);
    expect(installed).toContain(`call the helper as ${prefix}/bin/hopwise-host`);
    rmSync(tree, { recursive: true });
    expect(execFileSync(join(prefix, 'bin/hopwise-host'), ['x'], { encoding: 'utf8' })).toContain('\nx\n');
    expect(run(join(prefix, 'lib/hopwise/uninstall.sh'))).toContain('\nuninstall\n');
    expect(existsSync(join(prefix, 'lib/hopwise'))).toBe(false);
    expect(existsSync(join(prefix, 'bin/hopwise-host'))).toBe(false);
  });

  test('replaces nothing that is not the helper, by way of links neither', () => {
    const tree = writePackage();
    const prefix = join(folder, 'prefix');
    const install = () => attempt(join(tree, 'install.sh'), { HOPWISE_PREFIX: prefix });
    const own = write('prefix/lib/hopwise/notes.txt', 'mine');
    for (const script of ['install.sh', 'uninstall.sh'])
      expect(attempt(join(tree, script), { HOPWISE_PREFIX: prefix })).toEqual([
        1,
        `${prefix}/lib/hopwise is not the helper: move it away first\n`,
      ]);
    expect(readFileSync(own, 'utf8')).toBe('mine');
    rmSync(dirname(own), { recursive: true });
    const command = write('prefix/bin/hopwise-host', 'mine', 0o755);
    expect(install()).toEqual([1, `${command} is not the helper: move it away first\n`]);
    expect(readFileSync(command, 'utf8')).toBe('mine');
    // A link to a folder is replaced: nothing is put into that.
    mkdirSync(join(folder, 'elsewhere'));
    rmSync(command);
    symlinkSync(join(folder, 'elsewhere'), command);
    symlinkSync(join(folder, 'elsewhere'), join(prefix, 'lib/hopwise.new'));
    expect(install()[0]).toBe(0);
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([]);
    expect(readlinkSync(command)).toBe(join(prefix, 'lib/hopwise/bin/hopwise-host'));
    // Another link is another helper's.
    rmSync(command);
    symlinkSync('/bin/true', command);
    expect(attempt(join(tree, 'uninstall.sh'), { HOPWISE_PREFIX: prefix })[0]).toBe(0);
    expect(readlinkSync(command)).toBe('/bin/true');
    expect(readdirSync(join(prefix, 'lib'))).toEqual([]);
  });

  test('installs nothing where other users could change it', () => {
    const tree = writePackage();
    const prefix = join(folder, 'prefix');
    mkdirSync(join(prefix, 'lib'), { recursive: true });
    chmodSync(join(prefix, 'lib'), 0o777);
    expect(attempt(join(tree, 'install.sh'), { HOPWISE_PREFIX: prefix })).toEqual([
      1,
      `${prefix}/lib: expected a folder of yours that other users cannot write to\n`,
    ]);
    expect(attempt(join(tree, 'install.sh'), { HOPWISE_PREFIX: 'a' })).toEqual([
      1,
      'HOPWISE_PREFIX: expected an absolute path, got a\n',
    ]);
    const fresh = join(folder, 'fresh');
    const script = `umask 0; exec '${tree}/install.sh'`;
    execFileSync('sh', ['-c', script], { env: { ...process.env, HOPWISE_PREFIX: fresh } });
    for (const path of ['', 'lib', 'bin', 'lib/hopwise'])
      expect([path, statSync(join(fresh, path)).mode & 0o022]).toEqual([path, 0]);
  });

  test('calls the system’s programs, whatever comes first on the PATH', () => {
    const tree = writePackage();
    for (const name of ['cp', 'rm', 'mv', 'ln', 'mkdir', 'find', 'id', 'dirname', 'readlink'])
      write(`evil/${name}`, `#!/bin/sh\ntouch '${folder}/called'\n`, 0o755);
    const PATH = `${join(folder, 'evil')}:${process.env.PATH}`;
    const env = { HOPWISE_PREFIX: join(folder, 'prefix'), PATH };
    expect(attempt(join(tree, 'install.sh'), env)[0]).toBe(0);
    expect(attempt(join(tree, 'uninstall.sh'), env)[0]).toBe(0);
    expect(existsSync(join(folder, 'called'))).toBe(false);
  });

  test('leaves the former helper, and nothing else, where it is interrupted', () => {
    const tree = writePackage();
    const prefix = join(folder, 'prefix');
    const lib = join(prefix, 'lib');
    const env = { HOPWISE_PREFIX: prefix };
    expect(attempt(join(tree, 'install.sh'), env)[0]).toBe(0);
    for (const place of ['cp -R', 'mv "$folder.new"']) {
      // As a signal does that comes while the command runs.
      write(
        'tree/stopped.sh',
        installScript().replace(place, () => `kill -TERM $$; ${place}`),
        0o755,
      );
      expect(attempt(join(tree, 'stopped.sh'), env)[0]).toBe(1);
      expect([place, readdirSync(lib)]).toEqual([place, ['hopwise']]);
      expect(attempt(join(prefix, 'bin/hopwise-host'), {})[0]).toBe(0);
    }
    for (const left of ['hopwise.new', 'hopwise.old']) mkdirSync(join(lib, left));
    rmSync(join(lib, 'hopwise'), { recursive: true });
    expect(attempt(join(tree, 'uninstall.sh'), env)[0]).toBe(0);
    expect([...readdirSync(lib), ...readdirSync(join(prefix, 'bin'))]).toEqual([]);
  });
});

describe.skipIf(!existsSync('/usr/bin/dpkg-deb'))('the Debian package', () => {
  test('has the same bytes on two runs, the manifests of browsers, and what it depends on', async () => {
    const tree = writeTree();
    const build = (name: string) =>
      buildDebianPackage({
        tree,
        depends: ['libc6 (>= 2.34)', 'zlib1g'],
        architecture: 'arm64',
        release: RELEASE,
        root: ROOT,
        target: join(folder, name),
      });
    const file = await build('one');
    expect(file).toBe(join(folder, 'one/hopwise-host_1.2.0_arm64.deb'));
    expect(hash(await build('two'))).toBe(hash(file));
    const field = (name: string) => execFileSync('dpkg-deb', ['-f', file, name], { encoding: 'utf8' }).trim();
    expect([field('Architecture'), field('Depends')]).toEqual(['arm64', 'libc6 (>= 2.34), zlib1g']);
    execFileSync('dpkg-deb', ['-R', file, join(folder, 'unpacked')]);
    const read = (path: string) => readFileSync(join(folder, 'unpacked', path), 'utf8');
    const places = [
      'etc/chromium/native-messaging-hosts',
      'etc/opt/chrome/native-messaging-hosts',
      'etc/opt/edge/native-messaging-hosts',
    ].map((place) => `${place}/org.hopwise.host.json`);
    expect(read('DEBIAN/conffiles')).toBe(places.map((place) => `/${place}\n`).join(''));
    for (const place of [...places, 'usr/lib/mozilla/native-messaging-hosts/org.hopwise.host.json'])
      expect(JSON.parse(read(place)).path).toBe('/usr/bin/hopwise-host');
    // The link leads to the launcher in the package.
    expect(realpathSync(join(folder, 'unpacked/usr/bin/hopwise-host'))).toBe(
      join(folder, 'unpacked/usr/lib/hopwise/bin/hopwise-host'),
    );
  });
});

/** `npm run package`: archives, their sizes and contents, installers. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
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

  test('installs, installs again and uninstalls below a prefix', () => {
    const tree = writeTree();
    for (const [name, text] of [
      ['install.sh', installScript()],
      ['uninstall.sh', uninstallScript()],
    ] as const)
      write(`tree/${name}`, text, 0o755);
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

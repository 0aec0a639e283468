/** The rules of .dependency-cruiser.mjs, on small trees with one wrong import each. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ROOT } from '@hopwise/lab/paths';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const DEPCRUISE = join(ROOT, 'node_modules/.bin/depcruise');

let tree: string;
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'hopwise-imports-'));
  for (const file of ['.dependency-cruiser.mjs', 'scripts/packages.mjs'])
    cpSync(join(ROOT, file), join(tree, file));
});
afterEach(() => rmSync(tree, { recursive: true }));

/** Writes each file of the tree with its imports and returns which rules they break. */
function broken(files: Record<string, string[]>): string[] {
  for (const [file, imports] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    const lines = imports.map((line) => `${line};\n`).join('');
    writeFileSync(join(tree, file), `${lines}export const x = 1;\nexport type X = number;\n`);
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [DEPCRUISE, '*/{src,bin}', 'scripts'], {
    cwd: tree,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const errors = stripVTControlCharacters(stdout).matchAll(/^ +error (\S+: \S+) →\s+(\S+)/gm);
  const found = [...errors].map(([, from, to]) => `${from} -> ${to}`).sort();
  expect(status).toBe(found.length);
  return found;
}

describe('packages', () => {
  test('may import what is below them', () => {
    expect(
      broken({
        'contract/src/a.ts': [],
        'pageload-emulator/src/a.ts': ["import '../../contract/src/a.ts'"],
        'lab/src/a.ts': ["import '../../pageload-emulator/src/a.ts'"],
        'bench/src/a.ts': ["import '../../lab/src/a.ts'"],
      }),
    ).toEqual([]);
  });

  test('may import no others, not even a type', () => {
    const wrong = [
      ['contract', 'pageload-emulator'],
      ['pageload-emulator', 'extension'],
      ['extension', 'native-host'],
      ['native-host', 'lab'],
      ['lab', 'bench'],
      ['bench', 'e2e'],
      ['e2e', 'bench'],
    ];
    const files = wrong.flatMap(([from, to]) => [
      [`${to}/src/a.ts`, []],
      [`${from}/src/to-${to}.ts`, [`import type { X } from '../../${to}/src/a.ts'`]],
    ]);
    expect(broken(Object.fromEntries(files))).toEqual(
      wrong.map(([from, to]) => `${from}-imports: ${from}/src/to-${to}.ts -> ${to}/src/a.ts`).sort(),
    );
  });

  test('are found by their names too', () => {
    mkdirSync(join(tree, 'node_modules/@hopwise'), { recursive: true });
    mkdirSync(join(tree, 'lab'), { recursive: true });
    symlinkSync('../../lab', join(tree, 'node_modules/@hopwise/lab'));
    const exports = { './*': { source: './src/*.ts', default: './dist/*.js' } };
    writeFileSync(join(tree, 'lab/package.json'), JSON.stringify({ name: '@hopwise/lab', exports }));
    expect(
      broken({ 'lab/src/a.ts': [], 'extension/src/b.ts': ["import { x } from '@hopwise/lab/a'"] }),
    ).toEqual(['extension-imports: extension/src/b.ts -> lab/src/a.ts']);
  });

  test('import nothing of tests, and nothing that is not there', () => {
    expect(
      broken({
        'lab/test/a.ts': [],
        'lab/src/b.ts': ["import '../test/a.ts'"],
        'lab/src/c.ts': ["import './gone.ts'"],
      }),
    ).toEqual([
      'no-tests-in-the-product: lab/src/b.ts -> lab/test/a.ts',
      'resolvable: lab/src/c.ts -> ./gone.ts',
    ]);
  });
});

describe('scripts', () => {
  test('may import contract, the helper and the list of benches, and their tests all', () => {
    expect(
      broken({
        'contract/src/a.ts': [],
        'native-host/src/a.ts': [],
        'lab/src/a.ts': [],
        'bench/src/registry.mjs': [],
        'scripts/setup/a.mjs': ["import 'node:fs'"],
        'scripts/hopwise.mjs': ["import './setup/a.mjs'", "import '../bench/src/registry.mjs'"],
        'scripts/package/a.ts': ["import '../../contract/src/a.ts'", "import '../../native-host/src/a.ts'"],
        'scripts/test/a.test.ts': ["import '../../lab/src/a.ts'", "import '../package/a.ts'"],
      }),
    ).toEqual([]);
  });

  test('may import no other package, set-up none at all, and nothing imports them', () => {
    expect(
      broken({
        'contract/src/a.ts': [],
        'lab/src/a.ts': ["import '../../scripts/package/a.ts'"],
        'scripts/test/a.ts': [],
        'scripts/package/a.ts': ["import '../../extension/src/a.ts'", "import '../test/a.ts'"],
        'extension/src/a.ts': [],
        'scripts/setup/a.mjs': ["import '../../contract/src/a.ts'", "import './b.ts'"],
        'scripts/setup/b.ts': [],
      }),
    ).toEqual([
      'no-tests-in-the-product: scripts/package/a.ts -> scripts/test/a.ts',
      'nothing-imports-scripts: lab/src/a.ts -> scripts/package/a.ts',
      'scripts-imports: scripts/package/a.ts -> extension/src/a.ts',
      'setup-imports: scripts/setup/a.mjs -> contract/src/a.ts',
      'setup-imports: scripts/setup/a.mjs -> scripts/setup/b.ts',
    ]);
  });
});

describe('folders of a package', () => {
  test('may import in one direction, also from a folder inside another', () => {
    expect(
      broken({
        'lab/src/a/1.ts': ["import '../b/1.ts'"],
        'lab/src/b/1.ts': ["import './c/1.ts'", "import '../index.ts'"],
        'lab/src/b/c/1.ts': ["import '../2.ts'"],
        'lab/src/b/2.ts': [],
        'lab/src/index.ts': [],
      }),
    ).toEqual([]);
  });

  test('may not import each other, though their files do not', () => {
    expect(
      broken({
        'lab/src/a/1.ts': ["import '../b/1.ts'"],
        'lab/src/a/2.ts': [],
        'lab/src/b/1.ts': [],
        'lab/src/b/2.ts': ["import type { X } from '../a/2.ts'"],
      }),
    ).toEqual([
      'folders-in-one-direction: lab/src/a -> lab/src/b',
      'folders-in-one-direction: lab/src/b -> lab/src/a',
    ]);
  });

  test('may not import in a ring, also below another folder', () => {
    expect(
      broken({
        'lab/src/top/a/1.ts': ["import '../b/1.ts'"],
        'lab/src/top/a/2.ts': [],
        'lab/src/top/b/1.ts': [],
        'lab/src/top/b/2.ts': ["import '../c/1.ts'"],
        'lab/src/top/c/1.ts': ["import '../a/2.ts'"],
      }),
    ).toEqual([
      'folders-in-one-direction: lab/src/top/a -> lab/src/top/b',
      'folders-in-one-direction: lab/src/top/b -> lab/src/top/c',
      'folders-in-one-direction: lab/src/top/c -> lab/src/top/a',
    ]);
  });
});

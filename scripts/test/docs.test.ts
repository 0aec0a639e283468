/** Documents name files and scripts that exist. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { BENCHES } from '../../bench/src/registry.mjs';
import { MAY_IMPORT } from '../packages.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const tracked = (pattern: string) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', pattern], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(ROOT, file)));
const DOCUMENTS = tracked('*.md');
const PACKAGES: string[] = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).workspaces;
const SCRIPTS: Record<string, string> = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts;

/** Folders that a build or a command makes. */
const MADE = /(^|\/)(dist|out|bin\/hopwise-lab|test-results|node_modules)(\/|$)/;

/** Paths in backticks that begin with a package or a top-level folder, without places and patterns. */
function namedPaths(text: string): string[] {
  const tops = [...PACKAGES, 'docs', 'scripts'].join('|');
  const path = new RegExp(`\`((?:${tops})/[A-Za-z0-9_./-]+)\``, 'g');
  return [...text.matchAll(path)]
    .map((match) => match[1]!.replace(/[/.]+$/, ''))
    .filter((one) => !MADE.test(one));
}

function unknownScripts(text: string): string[] {
  return [...text.matchAll(/npm run (?:--silent )?([a-z][a-z:-]*)(?![a-z:-]| -w)/g)]
    .map((match) => match[1]!)
    .filter((name) => !Object.hasOwn(SCRIPTS, name));
}

function links(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)]
    .map((match) => match[1] ?? match[2]!)
    .filter((target) => !/^[a-z]+:|^\/\//.test(target));
}

/** GitHub's anchors of headings. */
function anchors(text: string): Set<string> {
  return new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map((match) =>
      match[1]!
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-'),
    ),
  );
}

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readFileSync(join(ROOT, document), 'utf8');

  test('its links lead to files and headings', () => {
    const broken = links(text).filter((target) => {
      const [file, anchor] = target.split('#') as [string, string | undefined];
      const path = file === '' ? document : normalize(join(dirname(document), file));
      if (MADE.test(path)) return false;
      if (!existsSync(join(ROOT, path))) return true;
      return (
        anchor !== undefined &&
        path.endsWith('.md') &&
        !anchors(readFileSync(join(ROOT, path), 'utf8')).has(anchor)
      );
    });
    expect(broken).toEqual([]);
  });

  test('the paths and npm scripts that it names exist', () => {
    const missing = namedPaths(text).filter((path) => !existsSync(join(ROOT, path)));
    expect(missing).toEqual([]);
    expect(unknownScripts(text)).toEqual([]);
  });
});

test.each(tracked('*.yml'))('the npm scripts that %s runs exist', (workflow) => {
  expect(unknownScripts(readFileSync(join(ROOT, workflow), 'utf8'))).toEqual([]);
});

test('README lists every package, docs/architecture.md also what it may import', () => {
  const rows = (file: string, column: number) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .flatMap((cells) => {
        const name = /`([^`]+?)\/?`/.exec(cells[1]!)?.[1];
        return name !== undefined && PACKAGES.includes(name) ? [[name, cells[column]!] as const] : [];
      });
  expect(
    rows('README.md', 1)
      .map(([name]) => name)
      .toSorted(),
  ).toEqual(PACKAGES.toSorted());
  const imports = rows('docs/architecture.md', 2).map(([name, cell]) => [
    name,
    PACKAGES.filter((other) => new RegExp(`(^|[ ,])${other}($|[ ,])`).test(cell)).toSorted(),
  ]);
  const allowed = Object.entries(MAY_IMPORT).map(([name, others]) => [name, others.toSorted()]);
  expect(Object.fromEntries(imports)).toEqual(Object.fromEntries(allowed));
});

/** The folders in the first column of the section "Map", below the package or its sources; none where a README has no map. */
function mappedFolders(name: string): string[] {
  const text = readFileSync(join(ROOT, name, 'README.md'), 'utf8');
  const map = /^## Map\n.*?(?=^## |$(?![\s\S]))/ms.exec(text)?.[0] ?? '';
  const cells = [...map.matchAll(/^\| ([^|]*) \|/gm)].map((match) => match[1]!);
  return cells.flatMap((cell) => [...cell.matchAll(/`(?:src\/)?([\w./-]+)\/`/g)].map((match) => match[1]!));
}

const MAPPED = PACKAGES.filter((name) => existsSync(join(ROOT, name, 'README.md'))).filter(
  (name) => mappedFolders(name).length > 0,
);

test.each(MAPPED)('the map of %s/README.md has every folder of its sources, and no other', (name) => {
  const mapped = mappedFolders(name);
  const has = (folder: string) =>
    existsSync(join(ROOT, name, 'src', folder)) || existsSync(join(ROOT, name, folder));
  expect(mapped.filter((folder) => !has(folder))).toEqual([]);
  const sources = readdirSync(join(ROOT, name, 'src'), { withFileTypes: true });
  const folders = sources.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  expect(folders.filter((folder) => !mapped.includes(folder))).toEqual([]);
});

test.each(['native-host', 'pageload-emulator'])(
  'the folders in the map of %s/README.md import only those above them, as it says',
  (name) => {
    const mapped = mappedFolders(name);
    const below = tracked(`${name}/src/*/*.ts`).flatMap((file) => {
      const [, , folder] = file.split('/') as [string, string, string];
      const text = readFileSync(join(ROOT, file), 'utf8');
      return [...text.matchAll(/ from '(\.\.\/[^']+)'/g)]
        .map((match) => normalize(join(dirname(file), match[1]!)).split('/')[2]!)
        .filter((other) => mapped.indexOf(other) > mapped.indexOf(folder))
        .map((other) => `${file} imports ${other}`);
    });
    expect(below).toEqual([]);
  },
);

test('contract/README.md has every file', () => {
  const text = readFileSync(join(ROOT, 'contract/README.md'), 'utf8');
  const files = readdirSync(join(ROOT, 'contract/src')).filter((file) => file !== 'index.ts');
  expect(files.filter((file) => !text.includes(`\`${file}\``))).toEqual([]);
});

test('bench/README.md has every bench', () => {
  const text = readFileSync(join(ROOT, 'bench/README.md'), 'utf8');
  const unnamed = Object.keys(BENCHES).filter(
    (name) => !new RegExp(`^\\|.*\`(npm run bench -- )?${name}[ \`]`, 'm').test(text),
  );
  expect(unnamed).toEqual([]);
});

test('docs/architecture.md names every folder of the library that holds code', () => {
  const text = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const library = readdirSync(join(ROOT, 'pageload-emulator/src'), { withFileTypes: true });
  const unnamed = library.filter((entry) => entry.isDirectory() && !text.includes(`${entry.name}/`));
  expect(unnamed.map(({ name }) => name)).toEqual([]);
});

test('the file names in docs/architecture.md exist', () => {
  const text = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const files = new Set(tracked('*.ts').map((file) => file.split('/').at(-1)));
  const named = [...text.matchAll(/`(?:[a-z0-9-]+\/)*([a-z0-9-]+\.ts)`/g)].map((match) => match[1]!);
  expect(named.filter((name) => !files.has(name))).toEqual([]);
});

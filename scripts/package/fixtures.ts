/** The npm package `@hopwise/playwright`: the test fixtures, with this checkout's packages inside and names of those that npm fetches. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packNpm } from './npm.ts';
import { PLAYWRIGHT_PACKAGES } from './playwright.ts';
import type { Release } from './release.ts';

const run = promisify(execFile);
const ENTRY = '@hopwise/e2e/playwright';

interface FixturesPackage {
  root: string;
  target: string;
  release: Release;
}

/** @returns the path of the package */
export async function packFixtures({ root, target, release }: FixturesPackage): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hopwise-fixtures-'));
  try {
    const content = join(folder, 'content');
    const modules = join(content, 'node_modules/@hopwise');
    for (const name of PLAYWRIGHT_PACKAGES) await unpackInto(root, name, folder, join(modules, name));
    const manifests = await Promise.all(
      PLAYWRIGHT_PACKAGES.map(async (name) =>
        JSON.parse(await readFile(join(modules, name, 'package.json'), 'utf8')),
      ),
    );
    await writeFile(
      join(content, 'package.json'),
      `${JSON.stringify(manifest(release, manifests), null, 2)}\n`,
    );
    await writeFile(join(content, 'index.js'), `export * from '${ENTRY}';\n`);
    await writeFile(join(content, 'index.d.ts'), `export * from '${ENTRY}';\n`);
    await writeFile(join(content, 'LICENSE'), await readFile(join(root, 'LICENSE')));
    await writeFile(join(content, 'README.md'), await readFile(join(root, 'e2e/docs/reference.md')));
    return await packNpm(content, target, release);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function unpackInto(root: string, name: string, scratch: string, folder: string): Promise<void> {
  const words = ['pack', '--json', '--workspace', name, '--pack-destination', scratch, '--loglevel=error'];
  const { stdout } = await run('npm', words, { cwd: root });
  // A list, or by package in later versions of npm.
  const [packed] = Object.values(JSON.parse(stdout) as Record<string, { filename: string }>);
  await mkdir(folder, { recursive: true });
  await run('tar', ['-xzf', join(scratch, packed!.filename), '-C', folder, '--strip-components=1']);
}

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

function manifest({ version }: Release, packages: readonly Manifest[]): object {
  const all = Object.assign({}, ...packages.map(({ dependencies }) => dependencies)) as Record<
    string,
    string
  >;
  const own = Object.fromEntries(packages.map(({ name }) => [name, version]));
  const dependencies = Object.fromEntries(
    Object.entries({ ...all, ...own }).sort(([a], [b]) => a.localeCompare(b, 'en')),
  );
  return {
    name: '@hopwise/playwright',
    version,
    description:
      'Playwright fixtures: recorded pages, or a server of your own, over an emulated link by HTTP/1.1, 2 or 3.',
    license: 'Apache-2.0',
    type: 'module',
    engines: { node: '>=20' },
    os: ['linux'],
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    files: ['index.js', 'index.d.ts'],
    dependencies,
    bundleDependencies: Object.keys(own),
    peerDependencies: Object.assign({}, ...packages.map((each) => each.peerDependencies)),
  };
}

/** The npm package `hopwise`: command and library in one file each, which need no other package. */
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIN_NODE } from '@hopwise/contract';
import { build } from 'esbuild';
import { copyDeclarations } from './declarations.ts';
import { packNpm } from './npm.ts';
import type { Release } from './release.ts';

/** The most that the package may have, bytes. */
const MAX_BYTES = 2_000_000;

interface CommandPackage {
  root: string;
  target: string;
  release: Release;
}

/**
 * Bundles the command and the library and packs them.
 *
 * @returns the path of the package
 * @throws Error in one line where it is too large, or a bundled package has no licence
 */
export async function packCommand({ root, target, release }: CommandPackage): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hopwise-command-'));
  try {
    const bundled = await bundle(root, folder);
    await copyDeclarations(
      root,
      join(folder, 'dist/types'),
      ['index', 'econ'].map((name) => join(root, `pageload-emulator/dist/${name}.d.ts`)),
    );
    await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest(release), null, 2)}\n`);
    await writeFile(join(folder, 'THIRD-PARTY-LICENSES.txt'), await licencesOf(root, bundled));
    await writeReadme(folder, release);
    await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    await copyDocs(root, folder);
    await chmod(join(folder, 'dist/hopwise.js'), 0o755);
    const file = await packNpm(folder, target, release);
    const { size } = await stat(file);
    if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, at most ${MAX_BYTES} expected`);
    return file;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns names of the packages in the bundles, sorted */
async function bundle(root: string, folder: string): Promise<string[]> {
  const source = join(root, 'pageload-emulator');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      hopwise: join(source, 'bin/hopwise.ts'),
      index: join(source, 'src/index.ts'),
      econ: join(source, 'src/econ.ts'),
    },
    outdir: join(folder, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: `node${MIN_NODE}`,
    conditions: ['source'],
    metafile: true,
    logLevel: 'error',
    // CommonJS packages ask for Node's own modules by require, which ES modules lack.
    banner: {
      js: "import { createRequire as createRequireOf } from 'node:module'; const require = createRequireOf(import.meta.url);",
    },
  });
  const names = Object.keys(metafile.inputs).flatMap((path) => {
    const [, name] = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path) ?? [];
    return name === undefined ? [] : [name];
  });
  return [...new Set(names)].sort();
}

const entryOf = (name: string): object => ({
  types: `./dist/types/pageload-emulator/${name}.d.ts`,
  default: `./dist/${name}.js`,
});

const manifest = ({ version }: Release): object => ({
  name: 'hopwise',
  version,
  description: 'Which HTTP version loads a web page fastest, from a recording of one load alone.',
  license: 'Apache-2.0',
  type: 'module',
  engines: { node: `>=${MIN_NODE}` },
  bin: { hopwise: 'dist/hopwise.js' },
  exports: { '.': entryOf('index'), './econ': entryOf('econ') },
  files: ['dist', 'docs', 'THIRD-PARTY-LICENSES.txt'],
});

async function licencesOf(root: string, names: readonly string[]): Promise<string> {
  const texts = names.map(async (name) => {
    const folder = join(root, 'node_modules', name);
    const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const file = (await readdir(folder)).find((each) => /^licen[cs]e(\.|$)/i.test(each));
    if (file === undefined) throw new Error(`${name}: expected a file with its licence`);
    return `${name} ${version} (${license})\n\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(72)}\n\n`);
}

async function writeReadme(folder: string, { version }: Release): Promise<void> {
  const text = await readFile(join(import.meta.dirname, 'hopwise/README.md'), 'utf8');
  await writeFile(join(folder, 'README.md'), text.replaceAll('VERSION', version));
}

/** The reference, whose links lead into this repository, with their targets' names alone. */
async function copyDocs(root: string, folder: string): Promise<void> {
  const docs = join(root, 'pageload-emulator/docs');
  await mkdir(join(folder, 'docs'));
  for (const name of await readdir(docs)) {
    const text = await readFile(join(docs, name), 'utf8');
    const own = text.replace(/\[([^\]]+)\]\(\.\.\/[^)]*\)/g, '$1');
    await writeFile(join(folder, 'docs', name), name.endsWith('.md') ? own : text);
  }
}

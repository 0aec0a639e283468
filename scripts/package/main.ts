/**
 * `npm run package`: the store packages of the extension, the packages of the helper and of npm, in `out/package/`, and releases of them.
 * The build must be up to date.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ArgumentError, readPackageArguments } from '../setup/arguments.mjs';
import { packCommand } from './command.ts';
import { buildDebianPackage } from './debian.ts';
import { packExtension } from './extension.ts';
import { packFixtures } from './fixtures.ts';
import { buildTree } from './helper-tree.ts';
import { packPlaywright } from './playwright.ts';
import { makeRelease } from './publish.ts';
import { ARCHITECTURES, type Release, readRelease } from './release.ts';
import { buildTarball } from './tarball.ts';
import { buildUntriedPackages } from './untried.ts';

const ROOT = join(import.meta.dirname, '../..');
const TARGET = join(ROOT, 'out/package');
const CACHE = join(ROOT, '.cache/package');

const log = (line: string): void => console.error(line);

const PARTS: Record<string, (release: Release, target: string) => Promise<string[]>> = {
  extension: ({ version }, target) =>
    packExtension({ built: join(ROOT, 'extension/dist'), target, version, log }),
  helper: buildHelperPackages,
  command: async (release, target) => [await packCommand({ root: ROOT, target, release })],
  fixtures: async (release, target) => [await packFixtures({ root: ROOT, target, release })],
};

async function buildHelperPackages(release: Release, target: string): Promise<string[]> {
  const files: string[] = [];
  for (const architecture of ARCHITECTURES) {
    const tree = await mkdtemp(join(tmpdir(), 'hopwise-tree-'));
    try {
      const depends = await buildTree(tree, { root: ROOT, architecture, cache: CACHE, log });
      const common = { tree, depends, architecture, release, root: ROOT, target };
      files.push(await buildDebianPackage(common), await buildTarball(common));
    } finally {
      await rm(tree, { recursive: true, force: true });
    }
  }
  files.push(...(await buildUntriedPackages({ root: ROOT, cache: CACHE, target, release })));
  return files;
}

async function buildParts(names: readonly string[], release: Release, target: string): Promise<string[]> {
  const files: string[] = [];
  for (const name of names) files.push(...(await PARTS[name]!(release, target)));
  return files;
}

async function main(words: string[]): Promise<number> {
  const { playwright, release: asked, parts } = readPackageArguments(words);
  if (playwright !== null) return packPlaywright(playwright);
  const release = readRelease(ROOT);
  if (asked !== null) {
    const build = (target: string) => buildParts(parts, release, target);
    const target = join(ROOT, 'out/release');
    return makeRelease({ root: ROOT, target, release, isDry: asked.isDry, log, build });
  }
  for (const file of await buildParts(parts, release, TARGET)) console.log(relative(ROOT, file));
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const line = (error as Error).message.split('\n')[0]!;
  const isRefused = error instanceof ArgumentError;
  log(isRefused ? line : `hopwise: ${line}`);
  process.exitCode = isRefused ? 2 : 1;
}

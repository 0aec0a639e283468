/**
 * `npm run package`: the store packages of the extension, the packages of the helper and of npm, in `out/package/`, and releases of them.
 * The build must be up to date.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
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

async function main(names: string[]): Promise<number> {
  if (names[0] === 'playwright') return packPlaywright(names.slice(1));
  const release = readRelease(ROOT);
  if (names[0] === 'release') {
    const other = names.slice(1).find((word) => word !== '--dry-run');
    if (other !== undefined) {
      log(`npm run package -- release: expected --dry-run or nothing, got ${other}`);
      return 2;
    }
    const build = (target: string) => buildParts(Object.keys(PARTS), release, target);
    const target = join(ROOT, 'out/release');
    return makeRelease({ root: ROOT, target, release, isDry: names.includes('--dry-run'), log, build });
  }
  const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown !== undefined) {
    log(
      `npm run package: expected some of ${Object.keys(PARTS).join(', ')}, or release, or playwright DIR, got ${unknown}`,
    );
    return 2;
  }
  const parts = names.length > 0 ? names : Object.keys(PARTS);
  for (const file of await buildParts(parts, release, TARGET)) console.log(relative(ROOT, file));
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  log(`npm run package: ${(error as Error).message.split('\n')[0]}`);
  process.exitCode = 1;
}

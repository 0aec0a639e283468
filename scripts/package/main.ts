/**
 * `npm run package`: the store packages of the extension and the packages of the helper, in `out/package/`. The build must be
 * up to date.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { buildDebianPackage } from './debian.ts';
import { packExtension } from './extension.ts';
import { buildTree } from './helper-tree.ts';
import { packPlaywright } from './playwright.ts';
import { ARCHITECTURES, type Release, readRelease } from './release.ts';
import { buildTarball } from './tarball.ts';
import { buildUntriedPackages } from './untried.ts';

const ROOT = join(import.meta.dirname, '../..');
const TARGET = join(ROOT, 'out/package');
const CACHE = join(ROOT, '.cache/package');

const log = (line: string): void => console.error(line);

const PARTS: Record<string, (release: Release) => Promise<string[]>> = {
  extension: ({ version }) =>
    packExtension({ built: join(ROOT, 'extension/dist'), target: TARGET, version, log }),
  helper: buildHelperPackages,
};

async function buildHelperPackages(release: Release): Promise<string[]> {
  const files: string[] = [];
  for (const architecture of ARCHITECTURES) {
    const tree = await mkdtemp(join(tmpdir(), 'hopwise-tree-'));
    try {
      const depends = await buildTree(tree, { root: ROOT, architecture, cache: CACHE, log });
      const common = { tree, depends, architecture, release, root: ROOT, target: TARGET };
      files.push(await buildDebianPackage(common), await buildTarball(common));
    } finally {
      await rm(tree, { recursive: true, force: true });
    }
  }
  files.push(...(await buildUntriedPackages({ root: ROOT, cache: CACHE, target: TARGET, release })));
  return files;
}

async function main(names: string[]): Promise<number> {
  if (names[0] === 'playwright') return packPlaywright(names.slice(1));
  const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown !== undefined) {
    log(
      `npm run package: expected some of ${Object.keys(PARTS).join(', ')}, or playwright DIR, got ${unknown}`,
    );
    return 2;
  }
  const release = readRelease(ROOT);
  for (const name of names.length > 0 ? names : Object.keys(PARTS))
    for (const file of await PARTS[name]!(release)) console.log(relative(ROOT, file));
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  log(`npm run package: ${(error as Error).message.split('\n')[0]}`);
  process.exitCode = 1;
}

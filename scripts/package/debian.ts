/** The helper's Debian packages. */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { EXTENSION_ID, FIREFOX_EXTENSION_ID } from '@hopwise/contract';
import { browsers } from '../../native-host/src/install/browsers.ts';
import { manifest } from '../../native-host/src/install/manifest.ts';
import type { Architecture, Release } from './release.ts';

const run = promisify(execFile);

/** Where the tree is installed. */
const PACKAGE_FOLDER = '/usr/lib/hopwise';

interface DebianPackage {
  /** From `buildTree`. */
  tree: string;
  depends: readonly string[];
  architecture: Architecture;
  release: Release;
  root: string;
  target: string;
}

/**
 * Packs a tree with the manifests for all users' browsers: the same tree gives the same bytes.
 *
 * @returns the path of the package
 */
export async function buildDebianPackage(options: DebianPackage): Promise<string> {
  const { tree, architecture, release, target } = options;
  const work = await mkdtemp(join(tmpdir(), 'hopwise-deb-'));
  try {
    await chmod(work, 0o755);
    await cp(tree, join(work, PACKAGE_FOLDER), { recursive: true });
    await mkdir(join(work, 'usr/bin'), { recursive: true });
    await symlink('../lib/hopwise/bin/hopwise-host', join(work, 'usr/bin/hopwise-host'));
    const manifests = await writeManifests(work);
    await writeDocuments(work, options);
    const { stdout } = await run('du', ['-sk', '--apparent-size', work]);
    await write(work, 'DEBIAN/control', controlFile(options, Number.parseInt(stdout, 10)));
    const settings = manifests.filter((path) => path.startsWith('/etc/'));
    await write(work, 'DEBIAN/conffiles', settings.map((path) => `${path}\n`).join(''));
    const file = join(target, `hopwise-host_${release.version}_${architecture}.deb`);
    await mkdir(target, { recursive: true });
    // One thread: several would split the data in another way on other machines.
    const words = ['--root-owner-group', '-Zxz', '-z3', '--threads-max=1', '--build', work, file];
    await run('dpkg-deb', words, {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(release.epochSeconds) },
    });
    return file;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function write(work: string, path: string, contents: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(work, path)), { recursive: true });
  await writeFile(join(work, path), contents, { mode: 0o644 });
}

/** Writes a native-messaging manifest for each browser that has a place for all users. */
async function writeManifests(work: string): Promise<string[]> {
  const ids = { chromium: EXTENSION_ID, firefox: FIREFOX_EXTENSION_ID };
  const places = browsers('linux').filter(({ systemManifestFile }) => systemManifestFile !== '');
  for (const browser of places) {
    const contents = manifest(browser, '/usr/bin/hopwise-host', ids);
    await write(work, browser.systemManifestFile, `${JSON.stringify(contents, null, 2)}\n`);
  }
  return places.map(({ systemManifestFile }) => systemManifestFile);
}

async function writeDocuments(work: string, { root }: DebianPackage): Promise<void> {
  const folder = 'usr/share/doc/hopwise-host';
  const changes = await readFile(join(root, 'CHANGELOG.md'));
  await write(work, `${folder}/changelog.gz`, gzipSync(changes, { level: 9 }));
  await write(work, `${folder}/copyright`, COPYRIGHT);
}

const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: hopwise

Files: *
Copyright: the hopwise authors
License: Apache-2.0
 The text is in /usr/share/common-licenses/Apache-2.0.

Files: usr/lib/hopwise/bin/node
Copyright: Node.js contributors
License: Node
 The text is in /usr/lib/hopwise/bin/node.LICENSE.

Files: usr/lib/hopwise/libcurl/*
Copyright: as the .copyright files of that folder say
License: curl
 The texts are in the .copyright files of that folder.

Files: usr/lib/hopwise/node_modules/*
Copyright: as each folder says
License: MIT
 The texts are in each folder.
`;

function controlFile({ release, architecture, depends }: DebianPackage, installedKb: number): string {
  return [
    'Package: hopwise-host',
    `Version: ${release.version}`,
    `Architecture: ${architecture}`,
    'Maintainer: hopwise <hopwise@hopwise.org>',
    `Installed-Size: ${installedKb}`,
    `Depends: ${depends.join(', ')}`,
    'Recommends: ca-certificates, libnss3-tools',
    'Section: web',
    'Priority: optional',
    'Description: helper of the hopwise browser extension',
    ' Transfers the resources of web pages over HTTP/1.1, HTTP/2 and HTTP/3 to find',
    ' out which is fastest, and keeps an origin on the protocol that the user chose.',
    ' Browsers start it by native messaging; it can be used on the command line too.',
    '',
  ].join('\n');
}

/** The libcurl with HTTP/3 that helper packages hold: Debian's, pinned by hash in `libcurl-packages.json`. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BackportsApt } from '../../native-host/src/setup/apt.ts';
import pins from './libcurl-packages.json' with { type: 'json' };
import type { Architecture } from './release.ts';

const run = promisify(execFile);

/** Folders of libraries and of copyright files in an unpacked Debian package. */
const LIBRARIES = /^usr\/lib\/[^/]+\/(lib[^/]+\.so\.\d+)$/;
const COPYRIGHT = /^usr\/share\/doc\/([^/]+)\/copyright$/;

/** Pinned packages of one machine, which `downloadLibcurl` has compared with their hashes. */
interface LibcurlPackages {
  files: string[];
  /** What they depend on besides each other, as a Debian control file has it. */
  depends: string[];
}

/**
 * Downloads the packages into `cache`, unless they are there.
 *
 * @throws Error in one line where Debian no longer has a version, or a file differs from its hash
 */
export async function downloadLibcurl(
  architecture: Architecture,
  cache: string,
  log: (line: string) => void,
): Promise<LibcurlPackages> {
  const folder = join(cache, `libcurl-${architecture}`);
  const wanted = pins[architecture];
  let files = await verifiedFiles(folder, wanted);
  if (!files) {
    await downloadPackages(architecture, folder, log);
    files = await verifiedFiles(folder, wanted);
    if (!files) throw new Error(`${folder}: its packages differ from the hashes in libcurl-packages.json`);
  }
  const names = wanted.map(({ name }) => name);
  const depends = new Set<string>();
  for (const file of files) {
    const { stdout } = await run('dpkg-deb', ['-f', file, 'Depends']);
    for (const one of stdout.trim().split(/,\s*/)) if (!names.includes(one.split(' ')[0]!)) depends.add(one);
  }
  return { files, depends: [...depends].sort() };
}

/** The paths of the packages in `folder`; null unless all of them have their hashes. */
async function verifiedFiles(
  folder: string,
  wanted: readonly { sha256: string }[],
): Promise<string[] | null> {
  const names = await readdir(folder).catch(() => []);
  const byHash = new Map<string, string>();
  for (const name of names.sort()) {
    const contents = await readFile(join(folder, name));
    byHash.set(createHash('sha256').update(contents).digest('hex'), join(folder, name));
  }
  const files = wanted.flatMap(({ sha256 }) => byHash.get(sha256) ?? []);
  return files.length === wanted.length ? files : null;
}

async function downloadPackages(
  architecture: Architecture,
  folder: string,
  log: (line: string) => void,
): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'hopwise-apt-'));
  try {
    const { suite } = pins;
    const apt = await BackportsApt.open({
      suite,
      folder: work,
      architecture,
      log,
    });
    const files = await apt.downloadVersions(pins[architecture]);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    for (const file of files) await copyFile(file, join(folder, file.split('/').at(-1)!));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Copies the libraries, under the names by which they are loaded, and their licences into `target`. */
export async function unpackLibcurl({ files }: LibcurlPackages, target: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'hopwise-libcurl-'));
  try {
    await mkdir(target, { recursive: true });
    for (const file of files) {
      const unpacked = join(work, file.split('/').at(-1)!);
      await run('dpkg-deb', ['-x', file, unpacked]);
      for (const path of await readdir(unpacked, { recursive: true })) {
        const library = LIBRARIES.exec(path)?.[1];
        const owner = COPYRIGHT.exec(path)?.[1];
        if (library) await copyFile(join(unpacked, path), join(target, library));
        if (owner) await copyFile(join(unpacked, path), join(target, `${owner}.copyright`));
      }
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

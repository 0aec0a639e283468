/** Reproducible zip archives. */
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** The first moment that zip can express, in local time as zip has it: archives then do not depend on when or where they are made. */
const MTIME = new Date(1980, 0, 1);

/** Paths of the files below a folder, relative to it and with slashes, in the order of their code units. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
    .sort();
}

/**
 * Packs the files below `folder` into `target`: the same files give the same bytes.
 *
 * @param change what is packed in a file's place; null for nothing
 */
export async function writeZip(
  folder: string,
  target: string,
  change: (path: string, contents: Buffer) => Buffer | null = (_, contents) => contents,
): Promise<void> {
  const zip = new ZipFile();
  for (const path of await listFiles(folder)) {
    const contents = change(path, await readFile(join(folder, path)));
    if (!contents) continue;
    zip.addBuffer(contents, path, { mtime: MTIME, mode: 0o100644, forceDosTimestamp: true });
  }
  zip.end();
  await mkdir(dirname(target), { recursive: true });
  await pipeline(zip.outputStream, createWriteStream(target));
}

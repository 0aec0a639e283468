import { randomUUID } from 'node:crypto';
import { mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { UserError } from './errors.ts';

/**
 * Replaces a file atomically: a reader finds the old or the whole new content, even after a kill. A link at `path` is replaced,
 * not followed. The folder must exist.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  // An unpredictable name, so that no link can have been planted under it.
  const fresh = `${path}.${randomUUID()}.new`;
  try {
    const file = await open(fresh, 'wx');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

/**
 * `replaceFile` for names that come from input: makes the folders of `name` and writes nothing outside of `dir`.
 *
 * @param name path within `dir`
 * @throws UserError when `name`, or a link on the path, leads out of `dir`
 */
export async function replaceFileWithin(
  dir: string,
  name: string,
  content: string | Uint8Array,
): Promise<void> {
  const path = join(dir, name);
  refuseOutside(dir, name, relative(dir, path));
  await mkdir(dirname(path), { recursive: true });
  const folder = await realpath(dirname(path));
  refuseOutside(dir, name, relative(await realpath(dir), join(folder, basename(path))));
  await replaceFile(path, content);
}

function refuseOutside(dir: string, name: string, way: string): void {
  if (way === '' || way === '..' || /^\.\.[/\\]/.test(way)) {
    throw new UserError(`${JSON.stringify(name)}: expected the name of a file within ${dir}`, 2);
  }
}

/** Makes any name usable as part of a file name. */
export const fileNamePart = (name: string): string => name.replace(/[^\w.-]/g, '-');

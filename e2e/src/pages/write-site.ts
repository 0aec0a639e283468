import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Site, siteSchema } from './site.ts';

/** A site and the bodies that its `site.json` names, by path relative to it. */
export interface GeneratedSite {
  site: Site;
  files: Map<string, Uint8Array>;
}

/** `site.json`'s text: the same site gives the same bytes. */
export const siteJson = (site: Site): string => `${JSON.stringify(siteSchema.parse(site), null, 1)}\n`;

/**
 * Writes `site.json` and the bodies into `dir`, replacing the site that is there. They are first written beside
 * it and then moved into place, so that `dir` never holds half a site.
 *
 * @throws {TypeError} when a body is missing, a path leads out of `dir`, or `dir` holds something else than a site;
 * the file system's errors as they are.
 */
export async function writeSite({ site, files }: GeneratedSite, dir: string): Promise<void> {
  const target = resolve(dir);
  const text = siteJson(site);
  for (const { body, origin, path } of site.resources) {
    if ('file' in body && !files.has(body.file)) {
      throw new TypeError(`${origin}${path}: no body for the file ${body.file}`);
    }
  }
  for (const path of files.keys()) {
    if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) {
      throw new TypeError(`${path}: expected a path below the site's folder`);
    }
  }
  const present = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [] as string[];
    throw error;
  });
  if (present.length > 0 && !present.includes('site.json')) {
    throw new TypeError(`${dir}: expected a site or nothing there, found ${present[0]}`);
  }
  await mkdir(dirname(target), { recursive: true });
  const fresh = await mkdtemp(join(dirname(target), `.${basename(target)}-`));
  try {
    for (const [path, body] of files) {
      const file = join(fresh, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, body);
    }
    await writeFile(join(fresh, 'site.json'), text);
    await replaceFolder(fresh, target);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** `rename` cannot replace a folder that is not empty: the old one steps aside first. */
async function replaceFolder(fresh: string, target: string): Promise<void> {
  const aside = `${fresh}-old`;
  try {
    await rename(target, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await rename(fresh, target);
    return;
  }
  try {
    await rename(fresh, target);
  } catch (error) {
    await rename(aside, target);
    throw error;
  }
  await rm(aside, { recursive: true, force: true });
}

import { mkdir, mkdtemp, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { removeScratch, removeStale, staleFolders } from '../command/scratch.ts';
import { type Site, siteSchema } from './site.ts';

/** A site and the bodies that its `site.json` names, by path relative to it. */
export interface GeneratedSite {
  site: Site;
  files: Map<string, Uint8Array>;
}

/** `site.json`'s text: the same site gives the same bytes. */
export const siteJson = (site: Site): string => `${JSON.stringify(siteSchema.parse(site), null, 1)}\n`;

/**
 * Writes `site.json` and the bodies into `dir`, replacing an existing site. They are written beside it first and then moved
 * into place, so that `dir` never holds half a site. Leftovers of killed processes are removed, and a site that one had moved
 * aside is restored.
 *
 * @throws {TypeError} when a body is missing, a path leads out of `dir`, or `dir` holds something other than a site; file
 * system errors pass through.
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
  const parent = dirname(target);
  await mkdir(parent, { recursive: true });
  await sweep(parent);
  const foreign = await foreignFile(target, [...files.keys()]);
  if (foreign !== null) throw new TypeError(`${dir}: expected a site or nothing there, found ${foreign}`);
  const scratch = await mkdtemp(join(parent, `.hopwise-site-${process.pid}-`));
  try {
    const fresh = join(scratch, 'new');
    await mkdir(fresh);
    for (const [path, body] of files) {
      const file = join(fresh, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, body);
    }
    await writeFile(join(fresh, 'site.json'), text);
    await replaceFolder(fresh, target, join(scratch, ASIDE));
  } finally {
    await removeScratch(scratch);
  }
}

/**
 * A file in `dir` that is neither `site.json`, nor a body that it names, nor one of `others`: replacing the folder would delete
 * it. Null when there is none or the folder does not exist.
 */
export async function foreignFile(dir: string, others: readonly string[]): Promise<string | null> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  const own = new Set(['site.json', ...others, ...(await bodiesOf(dir))]);
  for (const entry of entries) {
    const path = relative(dir, join(entry.parentPath, entry.name));
    if (!entry.isDirectory() && !own.has(path)) return path;
  }
  return null;
}

/** Files that the `site.json` in `dir` names; none where it cannot be read. */
async function bodiesOf(dir: string): Promise<string[]> {
  try {
    const { resources } = siteSchema.parse(JSON.parse(await readFile(join(dir, 'site.json'), 'utf8')));
    return resources.flatMap(({ body }) => ('file' in body ? [body.file] : []));
  } catch {
    // Then only site.json counts as ours.
    return [];
  }
}

const ASIDE = 'aside';

/** `rename` cannot replace a non-empty folder, so the old one is moved aside first. */
async function replaceFolder(fresh: string, target: string, aside: string): Promise<void> {
  const old = join(aside, basename(target));
  await mkdir(aside);
  try {
    await rename(target, old);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await rename(fresh, target);
    return;
  }
  try {
    await rename(fresh, target);
  } catch (error) {
    await rename(old, target);
    throw error;
  }
}

/** Finishes or undoes replacements by killed processes in `parent`. */
async function sweep(parent: string): Promise<void> {
  for (const scratch of await staleFolders(parent, /^\.hopwise-site-(\d+)-\w{6}$/)) {
    const aside = join(scratch, ASIDE);
    // Absent where no site was replaced.
    for (const name of await readdir(aside).catch(() => [] as string[])) {
      const isThere = await stat(join(parent, name)).catch(() => null);
      if (!isThere) await rename(join(aside, name), join(parent, name));
    }
    await removeStale(scratch);
  }
}

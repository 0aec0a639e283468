import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { readingProblem } from '@hopwise/contract/command-line';
import { UserError } from '../command/errors.ts';
import { CACHE_DIR } from '../paths.ts';
import { replayOfFile } from '../replay/replay-of-file.ts';
import { type Site, siteSchema } from '../sites/site.ts';
import { type GeneratedSite, siteJson, writeSite } from '../sites/write-site.ts';
import { BUNDLED_PAGES, bundledSite, isBundledPage } from './bundled.ts';
import { openPackagePage, PACKAGE_PREFIX } from './package-pages.ts';
import { generateSite } from './page-generator.ts';
import { WEB_PAGE_NAMES, webPageSpec } from './web-pages.ts';

/** A page that the lab can serve. */
export interface PageSource {
  name: string;
  /** Folder with `site.json`. */
  dir: string;
  site: Site;
}

/** Forms that `openPage` accepts, for help texts. */
export const PAGE_FORMS = `${Object.keys(BUNDLED_PAGES).join(', ')}, ${WEB_PAGE_NAMES}, npm:NAME, a folder with site.json, or a HAR or recording`;

/** Whether `page` names a generated or downloaded page, not a file. */
export const isPageName = (page: string): boolean =>
  isBundledPage(page) || webPageSpec(page) !== null || page.startsWith(PACKAGE_PREFIX);

/**
 * Opens the page that `--page` names: a bundled page, one drawn from the web's distribution (`web-7`, `web-p75`), one of a
 * registry package (`npm:agency`), a folder with `site.json`, or a HAR (plain or gzipped) or recording, which becomes a
 * structure replay.
 *
 * @throws UserError naming the file, the place in it and what was expected
 */
export async function openPage(page: string, signal?: AbortSignal): Promise<PageSource> {
  if (isBundledPage(page)) return cached(page, bundledSite(page));
  const drawn = webPageSpec(page);
  if (drawn) return cached(page, generateSite(drawn));
  if (page.startsWith(PACKAGE_PREFIX)) {
    const dir = await openPackagePage(page.slice(PACKAGE_PREFIX.length), signal);
    const site = await readSite(join(dir, 'site.json'));
    return { name: site.name, dir, site };
  }
  const path = resolve(page);
  const info = await stat(path).catch(() => null);
  if (!info) {
    throw new UserError(`page ${page}: expected ${PAGE_FORMS}; there is no such file`, 2);
  }
  if (info.isDirectory()) {
    return { name: basename(path), dir: path, site: await readSite(join(path, 'site.json')) };
  }
  const name = basename(path).replace(/\.(har|json)(\.gz)?$/, '');
  return cached(name, await replayOfFile(page, name));
}

/** Writes a generated site under a name that changes with its content, once. */
async function cached(name: string, generated: GeneratedSite): Promise<PageSource> {
  const hash = createHash('sha256').update(siteJson(generated.site));
  for (const [path, body] of generated.files) hash.update(`\0${path}\0`).update(body);
  const dir = join(
    CACHE_DIR,
    'sites',
    `${name.replace(/[^\w-]/g, '-').slice(0, 60)}-${hash.digest('hex').slice(0, 12)}`,
  );
  if (!(await stat(join(dir, 'site.json')).catch(() => null))) {
    await writeSite(generated, dir).catch((error) => {
      throw new UserError(`${dir}: the page cannot be written: ${firstLine(error)}`);
    });
  }
  return { name, dir, site: generated.site };
}

async function readSite(file: string): Promise<Site> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new UserError(`${file}: expected a site, ${readingProblem(error)}`, 2);
  });
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${file}: expected a site as JSON: ${firstLine(error)}`, 2);
  }
  const parsed = siteSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new UserError(`${file}: ${issue?.path.join('.') || 'top level'}: ${issue?.message}`, 2);
}

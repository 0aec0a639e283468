import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageSource } from '@hopwise/lab/pages/page-source';

/** Copies a page into `folder` and has it answer as most third parties do: without `Timing-Allow-Origin`. */
export async function withholdTimings(page: PageSource, folder: string): Promise<PageSource> {
  const dir = join(folder, 'site');
  await cp(page.dir, dir, { recursive: true });
  const file = join(dir, 'site.json');
  const site: PageSource['site'] = JSON.parse(await readFile(file, 'utf8'));
  // The replay server sends '*' unless the site has a value; one that names no page withholds.
  for (const { headers } of site.resources) headers['timing-allow-origin'] = 'https://none.test';
  await writeFile(file, JSON.stringify(site));
  return { ...page, dir, site };
}

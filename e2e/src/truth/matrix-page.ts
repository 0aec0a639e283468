/** The pages of a matrix and what tells one from another. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { firstLine, UserError } from '../start/errors.ts';
import { openPage, type PageSource } from '../start/page-source.ts';
import type { GroundTruthMatrix } from './ground-truth.ts';
import { cellFile } from './store.ts';

export interface MatrixPage extends PageSource {
  facts: GroundTruthMatrix['pages'][string];
}

/**
 * Opens the pages that `--pages` names.
 *
 * @throws UserError when one cannot be used or two have one name
 */
export async function openPages(sources: string[]): Promise<MatrixPage[]> {
  const pages: MatrixPage[] = [];
  for (const source of sources) {
    const page = await openPage(source);
    const twin = pages.find(({ name }) => cellFile(name, '') === cellFile(page.name, ''));
    if (twin)
      throw new UserError(
        `--pages ${source}: ${twin.facts.source} is called ${twin.name} already: rename one`,
        2,
      );
    pages.push({ ...page, facts: await factsOf(page, source) });
  }
  return pages;
}

async function factsOf({ dir, site }: PageSource, source: string): Promise<MatrixPage['facts']> {
  const hash = createHash('sha256').update(JSON.stringify(site));
  let bytes = 0;
  for (const { body } of site.resources) {
    if (!('file' in body)) {
      bytes += body.bytes;
      continue;
    }
    const content = await readFile(join(dir, body.file)).catch((error) => {
      throw new UserError(`${dir}: a body cannot be read: ${firstLine(error)}`, 2);
    });
    bytes += content.length;
    hash.update(`\0${body.file}\0`).update(content);
  }
  return {
    source,
    requests: site.resources.length,
    origins: site.origins.length,
    bytes,
    digest: hash.digest('hex').slice(0, 16),
  };
}

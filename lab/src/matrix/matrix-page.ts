/** The pages of a matrix and what distinguishes them. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { UserError } from '../command/errors.ts';
import type { GroundTruthMatrix } from '../ground-truth/ground-truth.ts';
import { cellFile, isKeepableName } from '../ground-truth/store.ts';
import { openPage, type PageSource } from '../pages/page-source.ts';

export interface MatrixPage extends PageSource {
  facts: GroundTruthMatrix['pages'][string];
  /** Factor by which the browser's main thread is slower on it; 1 unless given. */
  cpuSlowdown?: number;
}

/**
 * Opens the pages that `--pages` names.
 *
 * @throws UserError when one cannot be used or two have the same name
 */
export async function openPages(sources: string[], signal?: AbortSignal): Promise<MatrixPage[]> {
  const pages: MatrixPage[] = [];
  for (const source of sources) {
    const page = await openPage(source, signal);
    if (!isKeepableName(page.name))
      throw new UserError(
        `--pages ${source}: expected a name of at most 200 characters, none of them a control character or slash: rename it`,
        2,
      );
    const twin = pages.find(({ name }) => cellFile(name, '') === cellFile(page.name, ''));
    if (twin)
      throw new UserError(
        `--pages ${source}: ${twin.facts.source} already has the name ${twin.name}: rename one`,
        2,
      );
    pages.push({ ...page, facts: await factsOf(page, source) });
  }
  return pages;
}

/**
 * Whether a repeat view is answered entirely from the cache, without using any protocol. By RFC 9111, section 4.2, a response
 * is fresh for its `max-age`; without one the lab's servers send `no-store`.
 */
export function isCachedWhole({ resources }: PageSource['site']): boolean {
  return resources.every(({ method = 'GET', headers }) => {
    const control =
      Object.entries(headers).find(([name]) => name.toLowerCase() === 'cache-control')?.[1] ?? '';
    return (
      method === 'GET' && /(^|[\s,])max-age=0*[1-9]/i.test(control) && !/no-cache|no-store/i.test(control)
    );
  });
}

/** What distinguishes a page. @throws UserError when a body cannot be read */
export async function factsOf({ dir, site }: PageSource, source: string): Promise<MatrixPage['facts']> {
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
    // A site may list origins that its page does not use.
    origins: new Set(site.resources.map(({ origin }) => origin)).size,
    bytes,
    digest: hash.digest('hex').slice(0, 16),
  };
}

import { resolve } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { labObstacle } from '@hopwise/lab/client/lab';
import { UserError } from '@hopwise/lab/command/errors';
import { lockFolder } from '@hopwise/lab/command/measuring-lock';
import { makeOutputFolder } from '@hopwise/lab/command/output-folder';
import { openPage, type PageSource } from '@hopwise/lab/pages/page-source';
import { networkNamed } from './networks.ts';
import { partsOf } from './run-product.ts';

/** What a run visits, and where its visits are kept. */
interface RunRequest {
  /** Named pages; undefined to draw `count` of them from `firstSeed` on. */
  named: readonly string[] | undefined;
  count: number;
  firstSeed: number;
  networks: readonly string[];
  out: string;
}

/**
 * Opens what a run needs before minutes of measuring.
 *
 * @returns also the end of the folder's lock
 * @throws UserError for unknown pages or networks, without a lab, or where the folder cannot be written to
 */
export async function prepareRun(
  { named, count, firstSeed, networks, out }: RunRequest,
  signal: AbortSignal,
): Promise<{ pages: PageSource[]; dir: string; unlock: () => Promise<void> }> {
  try {
    for (const network of networks.flatMap(partsOf)) networkNamed(network);
  } catch (error) {
    throw new UserError(`--networks: ${firstLine(error)}`, 2);
  }
  const obstacle = await labObstacle();
  if (obstacle !== null) throw new UserError(obstacle);
  const names = named ?? Array.from({ length: count }, (_, index) => `web-${firstSeed + index}`);
  const pages = await Promise.all(names.map((name) => openPage(name, signal)));
  const dir = resolve(out);
  await makeOutputFolder(dir);
  return { pages, dir, unlock: await lockFolder(dir) };
}

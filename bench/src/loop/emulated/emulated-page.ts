import { type DrawnPage, drawPage } from '@hopwise/lab/gauntlet/draw-page';
import type { Split } from '@hopwise/lab/gauntlet/splits';
import type { TrueCell } from '../../reading/true-load.ts';

/** A drawn page with servers of its own: drawn pages have their hosts in common, and the extension learns by site. */
export function drawOwnPage(split: Split, seed: number, number: number): DrawnPage {
  const page = drawPage(split, seed, number);
  const rename = (text: string) => text.replace('.test', `-p${number + 1}.test`);
  for (const node of page.nodes) {
    node.url = rename(node.url);
    node.origin = rename(node.origin);
  }
  for (const own of page.origins) own.origin = rename(own.origin);
  return page;
}

/** Origins whose servers say that they offer HTTP/3. */
export const listOffering = ({ servers }: Pick<TrueCell, 'servers'>): Set<string> =>
  new Set(servers.filter(({ announcesH3 }) => announcesH3).map(({ origin }) => origin));

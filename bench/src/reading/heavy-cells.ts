/** Heavy pages: several drawn pages as one, of some hundred requests to dozens of origins. */
import { type DrawnCell, drawCells } from '@hopwise/lab/gauntlet/cells';
import { type DrawnPage, drawPage, type PageNode } from '@hopwise/lab/gauntlet/draw-page';
import { randomFor, type Split } from '@hopwise/lab/gauntlet/splits';

/** Requests of a page, at least: beyond the 90th percentile of the web's (HTTP Archive, Web Almanac 2024, "Page Weight"). */
const REQUESTS = [250, 500] as const;
/** The numbers of a page's further parts, which no other page has. */
const PARTS_FROM = 10_000;
const PARTS = 100;

/** Drawn cells, each with a heavy page in place of its own. @param count as for `drawCells` */
export function drawHeavyCells(split: Split, seed: number, count: number): DrawnCell[] {
  const heavy = new Map<DrawnPage, DrawnPage>();
  return drawCells(split, seed, count).map((cell) => {
    const page = heavy.get(cell.page) ?? heavyPage(cell.page, split, seed, heavy.size);
    heavy.set(cell.page, page);
    return { ...cell, page };
  });
}

/** Adds the requests of further pages to a page. @param number of the page within its split */
function heavyPage(page: DrawnPage, split: Split, seed: number, number: number): DrawnPage {
  const [low, high] = REQUESTS;
  const requests = randomFor(split, seed, 'heavy', number).int(low, high);
  const nodes = [...page.nodes];
  const origins = [...page.origins];
  for (let part = 1; nodes.length < requests; part++) {
    const other = drawPage(split, seed, PARTS_FROM + PARTS * number + part);
    const own = (origin: string) => origin.replace('https://', `https://part-${part}.`);
    const [document, ...rest] = other.nodes as [PageNode, ...PageNode[]];
    for (const node of rest)
      nodes.push(moveNode(page.nodes[0]!, node, document, own(node.origin), nodes.length));
    origins.push(...other.origins.map((server) => ({ ...server, origin: own(server.origin) })));
  }
  return { ...page, nodes, origins };
}

/** Moves a node of another page to an origin of its own; what that page's document names is named by `document`. */
function moveNode(
  document: PageNode,
  node: PageNode,
  former: PageNode,
  origin: string,
  id: number,
): PageNode {
  node.request = { ...node.request, id };
  node.origin = origin;
  node.url = origin + node.path;
  if (node.parent === former) {
    node.parent = document;
    document.children.push(node);
  }
  return node;
}

/** The cells of a gauntlet: drawn pages, each on two drawn networks. */
import type { LabNetwork } from '../client/networks.ts';
import { expectedMs } from '../matrix/measure-plan.ts';
import { drawNetwork, drawUdpKind } from './draw-network.ts';
import { type DrawnPage, drawPage } from './draw-page.ts';
import { randomFor, type Split } from './splits.ts';

export interface DrawnCell {
  page: DrawnPage;
  /** Name of the network; no other cell has it. */
  name: string;
  network: LabNetwork;
}

/** Two, so that predictions from both can be compared on a third. */
const NETWORKS_PER_PAGE = 2;
/**
 * Networks on which a load would take longer are drawn again: the time goes into more cells, and a third of them may be slow. By
 * `expectedMs`, which knows sizes, rates and round trips only.
 */
const MAX_EXPECTED_MS = [2500, 2500, 5000] as const;
const MAX_EXPECTED_H3_MS = 8000;
const MAX_DRAWS = 10_000;

/** The first `count` cells of a seed: more cells leave the earlier ones as they are. */
export function drawCells(split: Split, seed: number, count: number): DrawnCell[] {
  const pages = Array.from({ length: Math.ceil(count / NETWORKS_PER_PAGE) }, (_, number) =>
    drawPage(split, seed, number),
  );
  return pages.flatMap((page) => cellsOf(page, split, seed)).slice(0, count);
}

/**
 * The page on its networks.
 *
 * @throws RangeError for a page that is too heavy for all networks
 */
export function cellsOf(page: DrawnPage, split: Split, seed: number): DrawnCell[] {
  return Array.from({ length: NETWORKS_PER_PAGE }, (_, at) => ({
    page,
    name: `${page.name}-${at + 1}`,
    network: drawFor(page, split, seed, at),
  }));
}

function drawFor(page: DrawnPage, split: Split, seed: number, at: number): LabNetwork {
  const random = randomFor(split, seed, 'network', page.name, at);
  const udp = drawUdpKind(random);
  const limitMs = random.pick(MAX_EXPECTED_MS);
  const bytes = page.nodes.reduce((sum, node) => sum + node.bytes, 0);
  for (let draws = 0; draws < MAX_DRAWS; draws++) {
    const network = drawNetwork(random, split, udp);
    const ofTcp = expectedMs({ protocol: 'h2', view: 'cold' }, bytes, network);
    const ofQuic = expectedMs({ protocol: 'h3', view: 'cold' }, bytes, network);
    if (ofTcp <= limitMs && ofQuic <= MAX_EXPECTED_H3_MS) return network;
  }
  throw new RangeError(`${page.name}: expected a network that loads ${bytes} bytes in ${limitMs} ms`);
}

import type { Assignment, NetworkPath, ServerProfile } from '@hopwise/contract';
import { emulate } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';

/** Response bytes of a full packet: what was seen are shares of packets. */
const PACKET_BYTES = 1_430;
const SEEDS = [1, 2, 3];
/** Halvings of the interval: to a thirtieth of what was seen. */
const STEPS = 5;

/**
 * Random loss of the path, when `seen` counts the drops of its own queue too: the loss with which the
 * emulated loads lose as much in all. A full queue drops as well on a link that loses nothing by chance,
 * and what it drops depends on the protocol, so the two must be told apart before protocols are compared.
 *
 * @param seen lost packets over all packets
 * @param assignments the loads in which it was seen
 * @returns 0 where the queue alone explains it, at most `seen`
 */
export function randomLoss(
  graph: PageGraph,
  path: NetworkPath,
  servers: readonly ServerProfile[],
  assignments: readonly Assignment[],
  seen: number,
): number {
  const excess = (loss: number) => emulatedLoss(graph, { ...path, loss }, servers, assignments) - seen;
  if (seen === 0 || excess(0) >= 0) return 0;
  if (excess(seen) <= 0) return seen;
  let low = 0;
  let high = seen;
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (excess(middle) < 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function emulatedLoss(
  graph: PageGraph,
  path: NetworkPath,
  servers: readonly ServerProfile[],
  assignments: readonly Assignment[],
): number {
  let lost = 0;
  let packets = 0;
  for (const assignment of assignments) {
    for (const seed of SEEDS) {
      const load = emulate(graph, path, servers, assignment, { seed });
      for (const origin of load.origins) lost += origin.lost + origin.queueDrops;
      packets += load.bytes / PACKET_BYTES;
    }
  }
  return packets === 0 ? 0 : lost / packets;
}

import type { Assignment, NetworkPath, ServerProfile } from '@hopwise/contract';
import { emulate } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { PACKET } from '../network/packet.ts';

const SEEDS = [1, 2, 3];
/** Bisection steps: to a thirtieth of the observed loss. */
const STEPS = 5;

/**
 * Separates random loss from queue drops: finds the random loss with which emulated loads lose as much in all as was observed.
 * Queue drops depend on the protocol, so the two must be distinguished before protocols are compared.
 *
 * @param seen observed loss, queue drops included: lost packets over all packets
 * @param assignments those of the loads in which it was observed
 * @returns a fraction per packet, at most `seen`; 0 when queue drops alone explain it
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
      packets += load.bytes / PACKET.tcp.payloadBytes;
    }
  }
  return packets === 0 ? 0 : lost / packets;
}

import type { Recording } from '@hopwise/contract';
import { buildGraph } from '../graph/build-graph.ts';
import type { KnownLink } from '../graph/known-link.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { estimateNetwork, type NetworkEstimate } from './estimate-network.ts';
import { type NetworkPosterior, networkPosterior } from './network-posterior.ts';
import type { NetworkKnowledge } from './posterior-input.ts';

/** A recorded page, and the network and servers that it was recorded with. */
export interface ReadPage {
  graph: PageGraph;
  network: NetworkPosterior;
}

/** A policer less likely than this is no reason to doubt that a slow response over HTTP/3 was its server's; assumed. */
const UNLIKELY = 0.1;

/**
 * Reads a recorded page: its graph, and the network by Bayes' rule. The graph is built again once the network is known, as only then the
 * time of a slow response can be divided between its server and the network. A load that was recorded on another network than the given one
 * is read without the given figures.
 *
 * @param estimate the recording's, if it was made before
 * @throws InputError naming the place where a recording made by hand is not in order
 */
export function readPage(
  recording: Recording,
  knowledge: NetworkKnowledge = {},
  estimate: NetworkEstimate = estimateNetwork(recording),
): ReadPage {
  const network = networkPosterior(recording, knowledge, estimate);
  if (!network.isElsewhere) return { graph: buildGraph(recording, linkOf(network)), network };
  const own = networkPosterior(recording, { servers: knowledge.servers }, estimate);
  return { graph: buildGraph(recording, linkOf(own)), network: { ...network, servers: own.servers } };
}

const linkOf = ({ path, udp, intervals, densities }: NetworkPosterior): KnownLink => ({
  downBps: path.downBps,
  upBps: path.upBps,
  maxQueueMs: (8000 * intervals.queueBytes.high) / path.downBps,
  udp:
    path.udp.kind !== 'policed' && udp.policed >= UNLIKELY
      ? { kind: 'policed', bps: densities.policedBps.quantile(0.5) }
      : path.udp,
});

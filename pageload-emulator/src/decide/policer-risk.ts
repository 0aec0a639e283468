import { mean } from '@hopwise/contract';
import type { Choice } from '../choose/choose.ts';
import type { NetworkPosterior } from '../estimate/network-posterior.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { policeNetworks } from '../scenarios/draw-networks.ts';
import { uniformAssignment } from '../scenarios/uniform.ts';
import { SHORTEST_MS } from './candidates.ts';

/** A policer of UDP that is possible, but not likely enough to be in the drawn networks. */
export interface PolicerRisk {
  probability: number;
  /** How many times as long the page takes over HTTP/3 there as over the fastest other protocol; infinite where it does not load. */
  timesAsLong: number;
}

/** Less likely policers are left out: one would have to make a page fifty times as slow to cost 5% in the mean. */
const MIN_PROBABILITY = 0.001;
/** Drawn networks in which a policer is tried, each at another rate: what it costs depends on its rate and on the page's bytes. */
const POLICED_NETWORKS = 2;

/**
 * Assesses what a policer costs that no drawn network has.
 *
 * @param probability of such a policer
 * @returns null where it is too unlikely to count, or only HTTP/3 loads the page
 */
export function assessPolicer(
  graph: PageGraph,
  { uniform, scenarios, loadTimes }: Pick<Choice, 'uniform' | 'scenarios' | 'loadTimes'>,
  network: NetworkPosterior,
  probability: number,
): PolicerRisk | null {
  const others = uniform.filter(({ protocol }) => protocol !== 'h3');
  if (probability < MIN_PROBABILITY || others.length === 0) return null;
  const policed = policeNetworks(network, scenarios.slice(0, POLICED_NETWORKS));
  const ratios = loadTimes.of(uniformAssignment(graph, 'h3'), policed).map((h3Ms, index) => {
    const otherMs = Math.min(...others.map(({ pltMs }) => pltMs[index]!));
    return Math.max(SHORTEST_MS, h3Ms) / Math.max(SHORTEST_MS, otherMs);
  });
  return { probability, timesAsLong: mean(ratios) };
}

import type { Protocol } from '@hopwise/contract';
import type { Belief } from './belief.ts';
import type { Candidate } from './candidates.ts';
import type { Chances } from './chances.ts';
import type { Emulation } from './page-candidates.ts';
import { assessPolicer, type PolicerRisk } from './policer-risk.ts';
import type { UndrawnUdp } from './undrawn-udp.ts';

/** Candidate of each protocol for every origin. */
type UniformCandidates = ReadonlyMap<Protocol, Candidate>;

/** The best single protocol of a page. */
interface BestProtocol {
  best: Protocol;
  /** The best one on the drawn networks, some of which may not have the policer that UDP meets. */
  drawnBest: Protocol;
  /** The possible policer because of which HTTP/3, otherwise the best protocol, is not; null where there is none. */
  avoidedPolicer: PolicerRisk | null;
}

/** Finds the best protocol on the drawn networks, and where that is HTTP/3, with regard to a policer that none of them may have. */
export function findBest(
  { question, network, choice }: Emulation,
  belief: Belief<Candidate>,
  uniform: UniformCandidates,
  { policed }: UndrawnUdp,
): BestProtocol {
  const drawnBest = findSafest(belief, uniform);
  const risk = drawnBest === 'h3' ? assessPolicer(question.graph, choice, network, policed) : null;
  const best = risk === null ? drawnBest : findSafest(belief, uniform, risk);
  return { best, drawnBest, avoidedPolicer: best === drawnBest ? null : risk };
}

/** Finds the protocol of the smallest expected regret. @param risk a policer that the belief's scenarios do not have */
function findSafest(
  belief: Belief<Candidate>,
  uniform: UniformCandidates,
  risk: PolicerRisk | null = null,
): Protocol {
  const regrets = [...uniform].map(([protocol, own]) => {
    const drawn = belief.regret(own, [...uniform.values()]);
    if (risk === null) return { protocol, regret: drawn };
    const policed = protocol === 'h3' ? risk.timesAsLong - 1 : belief.regret(own, listTcp(uniform));
    return { protocol, regret: (1 - risk.probability) * drawn + risk.probability * policed };
  });
  return regrets.reduce((least, one) => (one.regret < least.regret ? one : least)).protocol;
}

const listTcp = (uniform: UniformCandidates): Candidate[] =>
  [...uniform].flatMap(([protocol, candidate]) => (protocol === 'h3' ? [] : [candidate]));

/** Probability that a protocol is faster than each other one, the least of these. */
export function confidenceIn(best: Protocol, chances: Chances, uniform: UniformCandidates): number {
  const own = uniform.get(best)!;
  const rivals = [...uniform.values()].filter((each) => each !== own);
  return Math.min(1, ...rivals.map((each) => chances.below(own, each)));
}

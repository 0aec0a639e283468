import type { Protocol } from '@hopwise/contract';
import type { Belief } from './belief.ts';
import type { Candidate } from './candidates.ts';
import type { Chances } from './chances.ts';
import type { PolicerRisk } from './policer-risk.ts';

/** Candidate of each protocol for every origin. */
type UniformCandidates = ReadonlyMap<Protocol, Candidate>;

/** Finds the protocol of the smallest expected regret. @param risk a policer that the belief's scenarios do not have */
export function findSafest(
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

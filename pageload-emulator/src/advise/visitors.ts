import type { NetworkPath, ServerProfile } from '@hopwise/contract';
import type { Scenario } from '../scenarios/scenario.ts';
import { createRandom, hashSeed, normal } from '../util/random.ts';

/**
 * Standard deviation of the logarithm of visitors' round trips and rates on a network of one name; assumed. On a single path, a change
 * may gain by chance, because a response just fits into a window.
 */
const VISITOR_SPREAD = 0.1;

/** Scenarios of visitors on one network, each with losses of its own. The first has the network's own figures. */
export function drawVisitors(
  path: NetworkPath,
  servers: readonly ServerProfile[],
  count: number,
): Scenario[] {
  return Array.from({ length: count }, (_, index) => {
    const random = createRandom(hashSeed(index, 0xad715e));
    const vary = (value: number) => (index === 0 ? value : value * Math.exp(VISITOR_SPREAD * normal(random)));
    const varied = { ...path, rttMs: vary(path.rttMs), downBps: vary(path.downBps), upBps: vary(path.upBps) };
    return { path: varied, servers, seed: index + 1 };
  });
}

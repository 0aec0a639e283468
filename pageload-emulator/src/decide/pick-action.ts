import type { Action, Decision } from '@hopwise/contract';
import type { Belief } from './belief.ts';
import type { Candidate } from './candidates.ts';
import { MAX_HARM } from './judge-action.ts';

/** An action that needs more must gain this much more than one that needs less, as a share of the baseline. */
const GAIN_FOR_NEED = 0.05;
/** Chance with which a load must be faster than under the earlier action before the decision changes. */
const CHANCE_TO_CHANGE = 0.8;

/**
 * Picks the worthwhile action that gains most, but one that needs less when the gain is nearly the same; an earlier decision
 * stays until another one is surely better. Changes of servers are advice and never picked.
 *
 * @param candidateOf the actions, each with the load that it leads to
 */
export function pickAction(
  candidateOf: ReadonlyMap<Action, Candidate>,
  belief: Belief<Candidate>,
  earlier: Decision | null,
): { action: Action; kept: boolean } {
  const own = [...candidateOf.keys()].filter(({ needs }) => !needs.includes('server'));
  const action =
    bestOf(own.filter(({ worthwhile }) => worthwhile)) ?? own.find(({ kind }) => kind === 'leave')!;
  const before = earlier && own.find((each) => isSameAction(each, earlier.action));
  if (!before || before === action || before.harms > MAX_HARM) return { action, kept: false };
  const chance = belief.probabilityBelow(candidateOf.get(action)!, candidateOf.get(before)!);
  const kept = chance < CHANCE_TO_CHANGE;
  return { action: kept ? before : action, kept };
}

function bestOf(worthwhile: readonly Action[]): Action | null {
  const most = Math.max(...worthwhile.map(({ gain }) => gain));
  const enough = worthwhile.filter(({ gain }) => gain >= most - GAIN_FOR_NEED);
  const [best = null] = enough.sort((a, b) => a.needs.length - b.needs.length || b.gain - a.gain);
  return best;
}

export function isSameAction(a: Action, b: Action): boolean {
  return (
    a.kind === b.kind &&
    a.protocol === b.protocol &&
    a.origins.length === b.origins.length &&
    a.origins.every((origin) => b.origins.includes(origin))
  );
}

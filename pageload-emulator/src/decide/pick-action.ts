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
  const own = ownOf([...candidateOf.keys()]);
  const action =
    bestOf(
      own.filter(({ worthwhile }) => worthwhile),
      ({ gain }) => gain,
    ) ?? own.find(({ kind }) => kind === 'leave')!;
  const before = earlier && own.find((each) => isSameAction(each, earlier.action));
  if (!before || before === action || before.harms > MAX_HARM) return { action, kept: false };
  const chance = belief.probabilityBelow(candidateOf.get(action)!, candidateOf.get(before)!);
  const kept = chance < CHANCE_TO_CHANGE;
  return { action: kept ? before : action, kept };
}

/** Those that the browser and the helper can do. */
const ownOf = (actions: readonly Action[]): Action[] =>
  actions.filter(({ needs }) => !needs.includes('server'));

/** The browser's action of which most can be hoped for, or one that needs less for nearly as much; null when there is none but to leave it. */
export function promisingAction(actions: readonly Action[]): Action | null {
  return bestOf(
    ownOf(actions).filter(({ kind }) => kind !== 'leave'),
    ({ gain, helps }) => gain * helps,
  );
}

/** @param worthOf what an action is worth, as a share of the baseline */
function bestOf(actions: readonly Action[], worthOf: (action: Action) => number): Action | null {
  const enough = Math.max(...actions.map(worthOf)) - GAIN_FOR_NEED;
  const [best] = actions
    .filter((action) => worthOf(action) >= enough)
    .sort((a, b) => a.needs.length - b.needs.length || worthOf(b) - worthOf(a));
  return best ?? null;
}

export function isSameAction(a: Action, b: Action): boolean {
  return (
    a.kind === b.kind &&
    a.protocol === b.protocol &&
    a.origins.length === b.origins.length &&
    a.origins.every((origin) => b.origins.includes(origin))
  );
}

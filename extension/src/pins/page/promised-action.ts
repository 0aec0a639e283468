import type { Action, Decision } from '@hopwise/contract';
import { planPins } from '../plan-pins.ts';
import type { PinsModel } from './pins-model.ts';

/**
 * The action that the pins in force carry out, where a decision recommends another one: the autopilot chooses by what it has measured, and
 * pins of other pages, or of the whole network, hold here too. Of several the one at most origins, as those at fewer are part of it. Null
 * for none, and for one that gains nothing.
 */
export function findPromised({ kind, action, actions }: Decision, model: PinsModel): Action | null {
  const isMade = (each: Action) => {
    const planned = planPins(each);
    return planned.length > 0 && planned.every((pin) => model.findMade(pin));
  };
  if (kind !== 'act' || isMade(action)) return null;
  const made = actions.filter((each) => each.gainMs > 0 && isMade(each));
  return made.toSorted((a, b) => b.origins.length - a.origins.length)[0] ?? null;
}

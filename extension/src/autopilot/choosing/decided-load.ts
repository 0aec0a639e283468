import { hasSamePins, isSlower, selectSinceChange } from '../../evidence/comparable-loads.ts';
import { factsOf, type KnownLoad } from '../../load/load-summary.ts';

/** How many predictions in a row must have found nothing to do: the first ones may still be unsure. */
const DECISIONS = 2;
/** Loads for which they hold. */
const HOLDS_FOR_LOADS = 8;

/**
 * Finds the load with the last decision about a page that is to be left as it is, where nothing has happened since: a prediction takes as
 * much processor time as a tenth of the load that it is made from. Null where a new one is due.
 *
 * @param comparable full loads of the page on the same network before `load`, oldest first
 */
export function findDecidedLoad<L extends KnownLoad>(load: KnownLoad, comparable: readonly L[]): L | null {
  const predicted = comparable.filter((each) => factsOf(each).decision !== null).slice(-DECISIONS);
  const last = predicted.at(-1);
  if (last === undefined || predicted.length < DECISIONS) return null;
  const isAgreed = predicted.every(
    (each) => factsOf(each).decision?.kind === 'leave' && hasSamePins(each, load),
  );
  // The load of the decision may have been the first one after a change.
  const alike = comparable.filter((each) => each.id <= last.id && hasSamePins(each, load));
  const before = selectSinceChange(alike).slice(0, -1);
  const isSurprising = isSlower(load, [last]) || isSlower(last, [load]) || isSlower(last, before);
  const isOutdated = comparable.length - comparable.indexOf(last) > HOLDS_FOR_LOADS;
  // What is recorded in detail shows more than the load of the decision.
  const showsMore = last.isDetailed === false && load.isDetailed !== false;
  return !isAgreed || isSurprising || isOutdated || showsMore ? null : last;
}

import type { Action, Decision } from '@hopwise/contract';
import { type PlannedPin, planPins, planUnknownOffers } from '../../pins/plan-pins.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import type { PlannedRun } from '../runs/autopilot-run.ts';
import type { AutopilotSettings } from '../settings/autopilot-settings.ts';
import { findRule } from '../settings/site-rules.ts';

/** An action with the pins that carry it out. */
export interface Option {
  action: Action;
  pins: PlannedPin[];
}

/**
 * Lists the actions of a decision that the settings allow, in the order of recommendation. Times are predicted for all origins of an
 * action together, so all must be free to be pinned.
 */
export function listOptions(
  { actions }: Decision,
  { holdsProtocols, siteRules }: AutopilotSettings,
): Option[] {
  return actions
    .filter(({ kind }) => kind === 'avoid-h3' || (holdsProtocols && kind === 'force-protocol'))
    .map((action) => ({ action, pins: planPins(action) }))
    .filter(({ action, pins }) => {
      const hasRule = pins.some(({ origin }) => findRule(origin, siteRules) !== null);
      return pins.length > 0 && pins.length === action.origins.length && !hasRule;
    });
}

/** Adds the pins of `planUnknownOffers`, without sites that have a rule. */
export function addUnknownOffers(
  run: PlannedRun,
  load: Pick<StoredLoad, 'recording'>,
  { siteRules }: AutopilotSettings,
): PlannedRun {
  const added = planUnknownOffers(run.pins, load).filter(
    ({ origin }) => findRule(origin, siteRules) === null,
  );
  return added.length === 0 ? run : { ...run, pins: [...run.pins, ...added] };
}

/** Chooses the first option of a decision that gains at least both floors. Null for none. */
export function chooseRun(decision: Decision, settings: AutopilotSettings): PlannedRun | null {
  const { kind, baseline } = decision;
  if (kind !== 'act') return null;
  // Visits after the first may be faster than the first by themselves.
  const beforeMs = Math.min(baseline.pltMs, baseline.laterPltMs);
  const floorMs = Math.max(settings.minGainMs, settings.minGain * beforeMs);
  const option = listOptions(decision, settings).find(
    ({ action: { worthwhile, time } }) => worthwhile && beforeMs - time.pltMs >= floorMs,
  );
  if (option === undefined) return null;
  return {
    trigger: 'decision',
    pins: option.pins,
    predicted: { beforeMs, afterMs: option.action.time.pltMs },
  };
}

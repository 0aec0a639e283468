import type { Decision } from '@hopwise/contract';
import { planPins } from '../pins/plan-pins.ts';
import type { Act } from './act.ts';
import type { AutopilotSettings } from './autopilot-settings.ts';
import { findRule } from './site-rules.ts';

/** What the autopilot is about to do. */
export type PlannedAct = Pick<Act, 'trigger' | 'pins' | 'predicted'>;

/**
 * Chooses the first action of a decision that the settings allow and that gains at least both floors; the actions are in the order
 * of recommendation. Its gain is predicted for all of its origins together, so all must be free to be pinned. Null for none.
 */
export function chooseAct(
  { kind, baseline, actions }: Decision,
  { minGain, minGainMs, holdsProtocols, siteRules }: AutopilotSettings,
): PlannedAct | null {
  if (kind !== 'act') return null;
  // Visits after the first may be faster than the first by themselves.
  const beforeMs = Math.min(baseline.pltMs, baseline.laterPltMs);
  for (const action of actions) {
    const isAllowed = action.kind === 'avoid-h3' || (holdsProtocols && action.kind === 'hold');
    const gainMs = beforeMs - action.time.pltMs;
    if (!isAllowed || !action.worthwhile || gainMs < minGainMs || gainMs < minGain * beforeMs) continue;
    const pins = planPins(action);
    const hasRule = pins.some(({ origin }) => findRule(origin, siteRules) !== null);
    if (pins.length === 0 || pins.length < action.origins.length || hasRule) continue;
    return { trigger: 'decision', pins, predicted: { beforeMs, afterMs: action.time.pltMs } };
  }
  return null;
}

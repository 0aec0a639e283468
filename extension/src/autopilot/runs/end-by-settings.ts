import type { AutopilotSettings } from '../settings/autopilot-settings.ts';
import { isWantedOff } from '../settings/network-rule.ts';
import { findRule } from '../settings/site-rules.ts';
import { type AutopilotRun, type EndCause, isByRule, isOfNetwork } from './autopilot-run.ts';

/**
 * Why settings that the user has changed end a run; null where it may go on.
 *
 * @param change the settings that were changed, of `settings`
 */
export function findEndBySettings(
  run: AutopilotRun,
  settings: AutopilotSettings,
  change: Partial<AutopilotSettings>,
): EndCause | null {
  const { trigger, pins } = run;
  if (!settings.isOn) return isOfNetwork(run) && isWantedOff(run, settings) ? null : 'off';
  const holds = !isByRule(run) && pins.some(({ kind }) => kind !== 'avoid-h3');
  if ((holds && !settings.holdsProtocols) || (trigger === 'trial' && !settings.explores)) return 'off';
  const isRuledOut = pins.some(({ origin, kind }) => {
    const rule = findRule(origin, settings.siteRules);
    return rule === null ? trigger === 'rule' : rule !== kind;
  });
  return isRuledOut || (trigger === 'traffic' && change.trafficRules) ? 'rule' : null;
}

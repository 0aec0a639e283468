import { groupBy } from '@hopwise/contract';
import { parseCluster } from '@hopwise/pageload-emulator';
import { isLocalOrigin, isPinnable } from '../../pins/pinnable-origin.ts';
import type { PlannedPin } from '../../pins/plan-pins.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import type { AutopilotSettings, SiteRule } from './autopilot-settings.ts';
import { findRule } from './site-rules.ts';
import { classifyNetwork, classifyTraffic } from './traffic-profiles.ts';

type Load = Pick<StoredLoad, 'recording' | 'cluster'>;
type TrafficRules = AutopilotSettings['trafficRules'];

/** The pins that rules for traffic and networks ask for at the origins of a load. Rules for sites take precedence. */
export function planByTraffic(
  load: Load,
  { siteRules, trafficRules }: Pick<AutopilotSettings, 'siteRules' | 'trafficRules'>,
): PlannedPin[] {
  return [...findTrafficRules(load, trafficRules)].flatMap(([origin, rule]) => {
    if (rule === 'leave' || !isPinnable(origin) || isLocalOrigin(origin)) return [];
    return findRule(origin, siteRules) === null ? { origin, kind: rule } : [];
  });
}

/** Whether a rule leaves the page itself as it is. */
export function isLeftByTraffic(load: Load, rules: TrafficRules): boolean {
  return findTrafficRules(load, rules).get(new URL(load.recording.url).origin) === 'leave';
}

/** The rules by origin. There are none on a network that no earlier load has shown. */
function findTrafficRules({ recording, cluster }: Load, rules: TrafficRules): Map<string, SiteRule> {
  const found = new Map<string, SiteRule>();
  const known = rules.length === 0 ? null : parseCluster(cluster);
  if (known === null) return found;
  const network = classifyNetwork(known);
  for (const [origin, requests] of groupBy(recording.requests, ({ url }) => new URL(url).origin)) {
    const traffic = classifyTraffic(requests);
    const own = rules.find((each) => each.traffic === traffic && each.network === network);
    if (own !== undefined) found.set(origin, own.rule);
  }
  return found;
}

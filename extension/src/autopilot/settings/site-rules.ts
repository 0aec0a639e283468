import type { Recording } from '@hopwise/contract';
import { isLocalOrigin, isPinnable } from '../../pins/pinnable-origin.ts';
import type { PlannedPin } from '../../pins/plan-pins.ts';
import { isOnSite } from '../../storage/is-on-site.ts';
import type { AutopilotSettings, SiteRule } from './autopilot-settings.ts';

type SiteRules = AutopilotSettings['siteRules'];

/** The rule for a URL: that of the most specific site; null for none. */
export function findRule(url: string, rules: SiteRules): SiteRule | null {
  const own = rules.filter(({ site }) => isOnSite(url, [site]));
  const [longest] = own.toSorted((a, b) => b.site.length - a.site.length);
  return longest?.rule ?? null;
}

/** The pins that rules ask for at the origins of a load. */
export function planByRules({ requests }: Pick<Recording, 'requests'>, rules: SiteRules): PlannedPin[] {
  if (rules.length === 0) return [];
  const origins = new Set(requests.map(({ url }) => new URL(url).origin));
  return [...origins].flatMap((origin) => {
    const rule = findRule(origin, rules);
    if (rule === null || rule === 'leave' || !isPinnable(origin) || isLocalOrigin(origin)) return [];
    return { origin, kind: rule };
  });
}

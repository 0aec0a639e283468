import type { AutopilotClient } from '../autopilot/page/autopilot-client.ts';
import {
  type AutopilotSettings,
  SITE_RULES,
  type SiteRule,
} from '../autopilot/settings/autopilot-settings.ts';
import { t } from '../language/translate.ts';
import { renderSelect } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { nameVersion } from '../ui/format.ts';
import { renderEditableList, renderSiteField } from './editable-list.ts';
import { normalizeSite } from './normalize-site.ts';

/** The list of rules for sites, with a field to add one. */
export function renderSiteRules(client: AutopilotClient): HTMLElement {
  const field = renderSiteField();
  const select = renderRuleSelect(t('rulesRule'));
  return renderEditableList<AutopilotSettings['siteRules'][number]>({
    title: t('rulesTitle'),
    explanation: t('rulesExplanation'),
    fields: [builder()('label', { class: 'hw-row' }, t('rulesFor'), field), select],
    add: t('rulesAdd'),
    items: () => client.settings.siteRules,
    read: () => ({ site: normalizeSite(field.value), rule: select.value as SiteRule }),
    isSame: (a, b) => a.site === b.site,
    compare: (a, b) => a.site.localeCompare(b.site),
    describe: ({ site, rule }) => describeEntry(site, rule),
    save: async (siteRules, done) => (await client.changeSettings({ siteRules })) || done,
  });
}

export function renderRuleSelect(label: string): HTMLSelectElement {
  const choices = SITE_RULES.map((rule) => [rule, describeRule(rule)] as const);
  return renderSelect(choices, { 'aria-label': label });
}

/** @param site what the rule is for */
export function describeEntry(site: string, rule: SiteRule) {
  return {
    entry: t('rulesEntry', { site, rule: describeRule(rule) }),
    remove: t('rulesRemove', { site }),
    removed: t('rulesRemoved', { site }),
    added: t('rulesAdded', { site, rule: describeRule(rule) }),
  };
}

/** A rule in words, after what it is for. */
function describeRule(rule: SiteRule): string {
  if (rule === 'leave') return t('ruleLeave');
  return rule === 'avoid-h3' ? t('ruleAvoid') : t('ruleHold', { protocol: nameVersion(rule) });
}

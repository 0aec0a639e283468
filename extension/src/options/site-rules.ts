import { type PinKind, PROTOCOL_NAME } from '@hopwise/contract';
import { SITE_RULES, type SiteRule } from '../autopilot/autopilot-settings.ts';
import { t } from '../language/translate.ts';
import { normalizeSite } from '../storage/excluded-sites.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import type { AutopilotClient } from './autopilot-client.ts';
import { renderStatus } from './controls.ts';

/** The list of rules for sites, with a field to add one. */
export function renderSiteRules(client: AutopilotClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const list = el('ul', { class: 'hw-sites', 'aria-label': t('rulesTitle') });
  const field = el('input', {
    type: 'text',
    class: 'hw-field',
    placeholder: 'example.org',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
  const select = el(
    'select',
    { class: 'hw-select', 'aria-label': t('rulesRule') },
    ...SITE_RULES.map((rule) => el('option', { value: rule }, describeRule(rule))),
  );
  const add = el('button', { class: 'hw-button' }, t('rulesAdd'));
  const form = el(
    'form',
    { class: 'hw-row' },
    el('label', { class: 'hw-row' }, t('rulesFor'), field),
    select,
    add,
  );

  const change = async (siteRules: { site: string; rule: SiteRule }[], done: string) => {
    status.textContent = (await client.changeSettings({ siteRules })) || done;
    draw();
  };
  const without = (site: string) => client.settings.siteRules.filter((each) => each.site !== site);
  const draw = () => list.replaceChildren(...client.settings.siteRules.map(renderRule));
  const renderRule = ({ site, rule }: { site: string; rule: SiteRule }) => {
    const label = t('rulesRemove', { site });
    const remove = el('button', { type: 'button', class: 'hw-link', 'aria-label': label }, t('remove'));
    remove.addEventListener('click', async () => {
      await change(without(site), t('rulesRemoved', { site }));
      field.focus();
    });
    return el('li', {}, el('span', {}, t('rulesEntry', { site, rule: describeRule(rule) })), remove);
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const site = normalizeSite(field.value);
      const rule = select.value as SiteRule;
      const rules = [...without(site), { site, rule }].sort((a, b) => a.site.localeCompare(b.site));
      await change(rules, t('rulesAdded', { site, rule: describeRule(rule) }));
      field.value = '';
    } catch (error) {
      status.textContent = (error as Error).message;
    }
  });
  draw();
  return renderCard(t('rulesTitle'), el('p', {}, t('rulesExplanation')), form, status, list);
}

/** A rule in words, after what it is for. */
export function describeRule(rule: SiteRule): string {
  if (rule === 'leave') return t('ruleLeave');
  return describeKind(rule);
}

const describeKind = (kind: PinKind) =>
  kind === 'avoid-h3' ? t('ruleAvoid') : t('ruleHold', { protocol: PROTOCOL_NAME[kind] });

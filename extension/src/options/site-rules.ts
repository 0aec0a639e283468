import { type PinKind, PROTOCOL_NAME } from '@hopwise/contract';
import { SITE_RULES, type SiteRule } from '../autopilot/autopilot-settings.ts';
import { normalizeSite } from '../storage/excluded-sites.ts';
import { builder } from '../ui/dom.ts';
import type { AutopilotClient } from './autopilot-client.ts';
import { renderSection, renderStatus } from './section.ts';

const EXPLANATION =
  'While the autopilot is on, a rule for a site and its subdomains takes precedence over the prediction. “Hold to” a version needs the ' +
  'local certificate authority.';

/** The list of rules for sites, with a field to add one. */
export function renderSiteRules(client: AutopilotClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const list = el('ul', { class: 'hw-sites', 'aria-label': 'Rules for sites' });
  const field = el('input', {
    type: 'text',
    class: 'hw-field',
    placeholder: 'example.org',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
  const select = el(
    'select',
    { class: 'hw-select', 'aria-label': 'Rule' },
    ...SITE_RULES.map((rule) => el('option', { value: rule }, describeRule(rule))),
  );
  const add = el('button', { class: 'hw-button' }, 'Add rule');
  const form = el(
    'form',
    { class: 'hw-row' },
    el('label', { class: 'hw-row' }, 'For the site', field),
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
    const label = `Remove the rule for ${site}`;
    const remove = el('button', { type: 'button', class: 'hw-link', 'aria-label': label }, 'Remove');
    remove.addEventListener('click', async () => {
      await change(without(site), `The rule for ${site} is removed.`);
      field.focus();
    });
    return el('li', {}, el('span', {}, `${site}: ${describeRule(rule)}`), remove);
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const site = normalizeSite(field.value);
      const rule = select.value as SiteRule;
      const rules = [...without(site), { site, rule }].sort((a, b) => a.site.localeCompare(b.site));
      await change(rules, `${site}: ${describeRule(rule)}.`);
      field.value = '';
    } catch (error) {
      status.textContent = (error as Error).message;
    }
  });
  draw();
  return renderSection('Rules for sites', el('p', {}, EXPLANATION), form, status, list);
}

function describeRule(rule: SiteRule): string {
  if (rule === 'leave') return 'always leave as it is';
  return describeKind(rule);
}

const describeKind = (kind: PinKind) =>
  kind === 'avoid-h3' ? 'always avoid HTTP/3' : `hold to ${PROTOCOL_NAME[kind]}`;

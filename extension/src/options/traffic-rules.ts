import { SITE_RULES, type SiteRule, type TrafficRule } from '../autopilot/autopilot-settings.ts';
import {
  NETWORK_KINDS,
  type NetworkKind,
  TRAFFIC_KINDS,
  type TrafficKind,
} from '../autopilot/traffic-profiles.ts';
import { type PlainKey, t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import type { AutopilotClient } from './autopilot-client.ts';
import { renderStatus } from './controls.ts';
import { describeRule } from './site-rules.ts';

/** The table of rules for kinds of traffic and of networks, with fields to add one. */
export function renderTrafficRules(client: AutopilotClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const list = el('ul', { class: 'hw-sites', 'aria-label': t('trafficRulesTitle') });
  const traffic = renderSelect(t('trafficRulesFor'), TRAFFIC_KINDS, (kind) => t(TRAFFIC_NAME[kind]));
  const network = renderSelect(t('trafficRulesOn'), NETWORK_KINDS, (kind) => t(NETWORK_NAME[kind]));
  const rule = renderSelect(t('trafficRulesRule'), SITE_RULES, describeRule);
  const form = el(
    'form',
    { class: 'hw-row' },
    el('label', { class: 'hw-row' }, t('trafficRulesFor'), traffic),
    el('label', { class: 'hw-row' }, t('trafficRulesOn'), network),
    rule,
    el('button', { class: 'hw-button' }, t('trafficRulesAdd')),
  );

  const change = async (trafficRules: TrafficRule[], done: string) => {
    status.textContent = (await client.changeSettings({ trafficRules })) || done;
    draw();
  };
  const without = (of: Pick<TrafficRule, 'traffic' | 'network'>) =>
    client.settings.trafficRules.filter((each) => each.traffic !== of.traffic || each.network !== of.network);
  const draw = () => list.replaceChildren(...client.settings.trafficRules.map(renderRule));
  const renderRule = (each: TrafficRule) => {
    const entry = describeEntry(each);
    const label = t('rulesRemove', { site: entry });
    const remove = el('button', { type: 'button', class: 'hw-link', 'aria-label': label }, t('remove'));
    remove.addEventListener('click', async () => {
      await change(without(each), t('rulesRemoved', { site: entry }));
      traffic.focus();
    });
    const text = t('rulesEntry', { site: entry, rule: describeRule(each.rule) });
    return el('li', {}, el('span', {}, text), remove);
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const added: TrafficRule = {
      traffic: traffic.value as TrafficKind,
      network: network.value as NetworkKind,
      rule: rule.value as SiteRule,
    };
    const text = t('rulesAdded', { site: describeEntry(added), rule: describeRule(added.rule) });
    await change([...without(added), added], text);
  });
  draw();
  return renderCard(t('trafficRulesTitle'), el('p', {}, t('trafficRulesExplanation')), form, status, list);
}

const describeEntry = ({ traffic, network }: Pick<TrafficRule, 'traffic' | 'network'>): string =>
  t('trafficRulesEntry', { traffic: t(TRAFFIC_NAME[traffic]), network: t(NETWORK_NAME[network]) });

function renderSelect<T extends string>(
  label: string,
  values: readonly T[],
  nameOf: (value: T) => string,
): HTMLSelectElement {
  const el = builder();
  const options = values.map((value) => el('option', { value }, nameOf(value)));
  return el('select', { class: 'hw-select', 'aria-label': label }, ...options);
}

const TRAFFIC_NAME = {
  page: 'trafficPage',
  media: 'trafficMedia',
  download: 'trafficDownload',
  messages: 'trafficMessages',
} as const satisfies Record<TrafficKind, PlainKey>;

const NETWORK_NAME = {
  near: 'networkNear',
  distant: 'networkDistant',
  'long-delay': 'networkLongDelay',
  lossy: 'networkLossy',
  'udp-hindered': 'networkUdpHindered',
} as const satisfies Record<NetworkKind, PlainKey>;

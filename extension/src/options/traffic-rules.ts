import type { AutopilotClient } from '../autopilot/page/autopilot-client.ts';
import type { SiteRule, TrafficRule } from '../autopilot/settings/autopilot-settings.ts';
import {
  NETWORK_KINDS,
  type NetworkKind,
  TRAFFIC_KINDS,
  type TrafficKind,
} from '../autopilot/settings/traffic-profiles.ts';
import { type PlainKey, t } from '../language/translate.ts';
import { renderSelect } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { renderEditableList } from './editable-list.ts';
import { describeEntry, renderRuleSelect } from './site-rules.ts';

/** The table of rules for kinds of traffic and of networks, with fields to add one. */
export function renderTrafficRules(client: AutopilotClient): HTMLElement {
  const el = builder();
  const traffic = renderSelect(
    TRAFFIC_KINDS.map((kind) => [kind, t(TRAFFIC_NAME[kind])] as const),
    { 'aria-label': t('trafficRulesFor') },
  );
  const network = renderSelect(
    NETWORK_KINDS.map((kind) => [kind, t(NETWORK_NAME[kind])] as const),
    { 'aria-label': t('trafficRulesOn') },
  );
  const select = renderRuleSelect(t('trafficRulesRule'));
  return renderEditableList<TrafficRule>({
    title: t('trafficRulesTitle'),
    explanation: t('trafficRulesExplanation'),
    fields: [
      el('label', { class: 'hw-row' }, t('trafficRulesFor'), traffic),
      el('label', { class: 'hw-row' }, t('trafficRulesOn'), network),
      select,
    ],
    add: t('trafficRulesAdd'),
    items: () => client.settings.trafficRules,
    read: () => ({
      traffic: traffic.value as TrafficKind,
      network: network.value as NetworkKind,
      rule: select.value as SiteRule,
    }),
    isSame: (a, b) => a.traffic === b.traffic && a.network === b.network,
    describe: ({ traffic, network, rule }) => {
      const names = { traffic: t(TRAFFIC_NAME[traffic]), network: t(NETWORK_NAME[network]) };
      return describeEntry(t('trafficRulesEntry', names), rule);
    },
    save: async (trafficRules, done) => (await client.changeSettings({ trafficRules })) || done,
  });
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

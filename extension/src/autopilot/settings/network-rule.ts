/** Whether HTTP/3 is kept off on a whole network, for every page at once: nothing has to be learned of each page first. */
import { EVERY_ORIGIN } from '@hopwise/contract';
import { type ShownNetwork, slowsH3 } from '../../evidence/known-udp.ts';
import type { PlannedPin } from '../../pins/plan-pins.ts';
import { nameNetwork } from '../../storage/network-key.ts';
import { type AutopilotSettings, MAX_NETWORK_RULES } from './autopilot-settings.ts';

type NetworkRules = Pick<AutopilotSettings, 'networkRules'>;

/** The pin that keeps HTTP/3 off for every page. */
export const NETWORK_PIN: PlannedPin = { origin: EVERY_ORIGIN, kind: 'avoid-h3' };

/** Whether the user keeps HTTP/3 off on a network, or allows it whatever the network does; null for neither. */
export function findChoice(name: string, { networkRules }: NetworkRules): boolean | null {
  return networkRules.find(({ network }) => network === name)?.keepsOffH3 ?? null;
}

/** Whether the user wants HTTP/3 off on the network of a run or a load. */
export const isWantedOff = (of: Parameters<typeof nameNetwork>[0], settings: NetworkRules): boolean =>
  findChoice(nameNetwork(of), settings) === true;

/** Whether HTTP/3 is kept off on a network: by the user's choice, or else where it slows HTTP/3 down and the autopilot is on. */
export function keepsOffH3(
  name: string,
  known: ShownNetwork,
  settings: Pick<AutopilotSettings, 'networkRules' | 'isOn'>,
): boolean {
  return findChoice(name, settings) ?? (settings.isOn && slowsH3(known));
}

/** The rules with another choice for a network. @param keepsOffH3 null for none */
export function changeChoice(
  name: string,
  keepsOffH3: boolean | null,
  { networkRules }: NetworkRules,
): AutopilotSettings['networkRules'] {
  const others = networkRules.filter(({ network }) => network !== name);
  return keepsOffH3 === null ? others : [...others, { network: name, keepsOffH3 }].slice(-MAX_NETWORK_RULES);
}

/** Sites at which the user's rules leave HTTP/3 on, also on a network that slows it down. */
export function listLeftSites({ siteRules }: Pick<AutopilotSettings, 'siteRules'>): string[] {
  return siteRules.filter(({ rule }) => rule === 'leave' || rule === 'h3').map(({ site }) => site);
}

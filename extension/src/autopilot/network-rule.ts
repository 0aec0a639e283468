/** Keeps HTTP/3 off on networks that slow it down, for every page at once: nothing has to be learned of each page first. */
import { EVERY_ORIGIN, type UdpTreatment } from '@hopwise/contract';
import { type NetworkCluster, parseCluster, poolClusters } from '@hopwise/pageload-emulator';
import type { PlannedPin } from '../pins/plan-pins.ts';
import type { StoredLoad } from '../storage/loads.ts';
import type { NetworkMemory } from '../storage/network.ts';
import { type AutopilotSettings, MAX_NETWORK_RULES } from './autopilot-settings.ts';

/**
 * Surer than this, a network hinders UDP, or leaves it open. Loads without HTTP/3 leave 0.95 of what was certain (`ClusterPrior` of the
 * emulator), which must still be enough.
 */
const SURE = 0.85;
/** A policer that lets more of the link's rate through does not slow pages down much. */
const MAX_SHARE = 0.5;

/** The name of a network that the helper does not recognise, among the keys of those that it does. */
export const UNRECOGNISED = '';

export const nameOf = ({ networkKey }: Pick<StoredLoad, 'networkKey'>): string => networkKey ?? UNRECOGNISED;

type Known = Pick<StoredLoad, 'cluster' | 'check'>;

/** Whether what is known of a load's network shows surely that UDP is blocked there, or held to much less than the link's rate. */
export function hindersUdp(known: Known): boolean {
  const measured = kindOf(known.check);
  if (measured !== null) return measured !== 'open';
  const cluster = parseCluster(known.cluster);
  if (cluster === null || cluster.udp.policed + cluster.udp.blocked < SURE) return false;
  // Figures are log-normal.
  const share = Math.exp(cluster.policedBps.mean - cluster.downBps.mean);
  return blocksUdp(known) || share <= MAX_SHARE;
}

/** Whether UDP is blocked rather than held to a rate. */
function blocksUdp({ cluster: stored, check }: Known): boolean {
  const measured = kindOf(check);
  if (measured !== null) return measured === 'blocked';
  const cluster = parseCluster(stored);
  return cluster !== null && cluster.udp.blocked > cluster.udp.policed;
}

/**
 * Whether a network hinders UDP so that pages over HTTP/3 load surely slower there. Where UDP is blocked they do not: browsers race
 * TCP against QUIC and remember that HTTP/3 is broken, which costs less than a tunnel (`bench/docs/product.md`, `udp-blocked`).
 */
export const slowsH3 = (known: Known): boolean => hindersUdp(known) && !blocksUdp(known);

/** Surer than this, it is known that a network hinders UDP. */
const KNOWN_HINDERED = 0.95;
/** Where UDP is open more surely than this, a load has shown it: less is assumed where none has. */
const SHOWN_OPEN = 0.99;

export const isShownOpen = ({ udp }: NetworkCluster): boolean => udp.open >= SHOWN_OPEN;

/** Whether it is known how a network treats UDP. That nothing speaks against its being open is not to know it. */
export const knowsUdp = (known: NetworkCluster): boolean =>
  isShownOpen(known) || Math.max(known.udp.policed, known.udp.blocked) >= KNOWN_HINDERED;

/**
 * Sites whose own loads surely show that HTTP/3 is slowed down where nothing else does: the network may be the cause, or the site. None where
 * another site's loads, or a check, show that UDP is open.
 */
export function listSuspectingSites({ sites, check, unlike }: NetworkMemory): string[] {
  const known = Object.entries(sites).filter(([site]) => !unlike.includes(site));
  const witnesses = [...known.map(([, cluster]) => cluster), ...(check === null ? [] : [check])];
  if (witnesses.some(isShownOpen)) return [];
  if (hindersUdp({ cluster: poolClusters({ sites: known.map(([, cluster]) => cluster), check }) })) return [];
  return known.filter(([, cluster]) => slowsH3({ cluster })).map(([site]) => site);
}

/** Whether a check has found UDP hindered by the server of another site alone, which may hinder its own HTTP/3. */
export const isUnconfirmed = ({ check, checkedBy }: NetworkMemory, site: string): boolean =>
  checkedBy !== null && checkedBy !== site && hindersUdp({ cluster: check });

/** What a check has shown of UDP; null for nothing, or not for more than that it is not blocked. */
function kindOf(check: StoredLoad['check']): UdpTreatment['kind'] | null {
  const kind = check?.udp?.kind ?? 'unblocked';
  return kind === 'unblocked' ? null : kind;
}

/** Whether the user keeps HTTP/3 off on a network, or allows it whatever the network does; null for neither. */
export function findChoice(
  name: string,
  { networkRules }: Pick<AutopilotSettings, 'networkRules'>,
): boolean | null {
  return networkRules.find(({ network }) => network === name)?.keepsOffH3 ?? null;
}

/** Whether HTTP/3 is kept off on a network: by the user's choice, or else where it slows HTTP/3 down and the autopilot is on. */
export function keepsOffH3(
  name: string,
  known: Known,
  settings: Pick<AutopilotSettings, 'networkRules' | 'isOn'>,
): boolean {
  return findChoice(name, settings) ?? (settings.isOn && slowsH3(known));
}

/** The rules with another choice for a network. @param keepsOffH3 null for none */
export function changeChoice(
  name: string,
  keepsOffH3: boolean | null,
  { networkRules }: Pick<AutopilotSettings, 'networkRules'>,
): AutopilotSettings['networkRules'] {
  const others = networkRules.filter(({ network }) => network !== name);
  return keepsOffH3 === null ? others : [...others, { network: name, keepsOffH3 }].slice(-MAX_NETWORK_RULES);
}

/** Whether it shows surely that the network does not hinder UDP. */
export function leavesUdpOpen({ cluster: stored, check }: Known): boolean {
  const measured = kindOf(check);
  return measured === null ? (parseCluster(stored)?.udp.open ?? 0) >= SURE : measured === 'open';
}

/** The pin that keeps HTTP/3 off for every page. */
export const NETWORK_PIN: PlannedPin = { origin: EVERY_ORIGIN, kind: 'avoid-h3' };

/** Sites at which the user's rules leave HTTP/3 on, also on a network that slows it down. */
export function listLeftSites({ siteRules }: Pick<AutopilotSettings, 'siteRules'>): string[] {
  return siteRules.filter(({ rule }) => rule === 'leave' || rule === 'h3').map(({ site }) => site);
}

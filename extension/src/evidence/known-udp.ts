/** What is known of how a network treats UDP, which carries HTTP/3: from its loads, as a cluster has them together, and from checks. */
import type { UdpTreatment } from '@hopwise/contract';
import { isShownOpen, type NetworkCluster, parseCluster, poolClusters } from '@hopwise/pageload-emulator';
import type { StoredLoad } from '../load/stored-load.ts';
import type { NetworkMemory } from '../storage/network.ts';

/**
 * Surer than this, a network hinders UDP, or leaves it open. Loads without HTTP/3 leave 0.95 of what was certain (`ClusterPrior` of the
 * emulator), which must still be enough.
 */
const SURE = 0.85;
/** A policer that lets more of the link's rate through does not slow pages down much. */
const MAX_SHARE = 0.5;

/** What is known of a network: the summary of its loads, and what a check of it measured. */
export type ShownNetwork = Pick<StoredLoad, 'cluster' | 'check'>;

/** Whether what is known of a load's network shows surely that UDP is blocked there, or held to much less than the link's rate. */
export function hindersUdp(known: ShownNetwork): boolean {
  const measured = kindOf(known.check);
  if (measured !== null) return measured !== 'open';
  const cluster = parseCluster(known.cluster);
  if (cluster === null || cluster.udp.policed + cluster.udp.blocked < SURE) return false;
  // Figures are log-normal.
  const share = Math.exp(cluster.policedBps.mean - cluster.downBps.mean);
  return blocksUdp(known) || share <= MAX_SHARE;
}

/** Whether UDP is blocked rather than held to a rate. */
function blocksUdp({ cluster: stored, check }: ShownNetwork): boolean {
  const measured = kindOf(check);
  if (measured !== null) return measured === 'blocked';
  const cluster = parseCluster(stored);
  return cluster !== null && cluster.udp.blocked > cluster.udp.policed;
}

/**
 * Whether a network hinders UDP so that pages over HTTP/3 load surely slower there. Where UDP is blocked they do not: browsers race
 * TCP against QUIC and remember that HTTP/3 is broken, which costs less than a tunnel (`bench/docs/product.md`, `udp-blocked`).
 */
export const slowsH3 = (known: ShownNetwork): boolean => hindersUdp(known) && !blocksUdp(known);

/** Surer than this, it is known that a network hinders UDP. */
const KNOWN_HINDERED = 0.95;

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

/** Whether it shows surely that the network does not hinder UDP. */
export function leavesUdpOpen({ cluster: stored, check }: ShownNetwork): boolean {
  const measured = kindOf(check);
  return measured === null ? (parseCluster(stored)?.udp.open ?? 0) >= SURE : measured === 'open';
}

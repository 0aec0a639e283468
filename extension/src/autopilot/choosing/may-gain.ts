import { type NetworkCluster, siteKey } from '@hopwise/pageload-emulator';
import {
  findComparableLoads,
  hasSamePins,
  isSlower,
  selectSinceChange,
  visitsUntil,
} from '../../evidence/comparable-loads.ts';
import type { KnownLoad } from '../../load/load-summary.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { findSite, loadNetwork, loadNetworkMemory } from '../../storage/network.ts';
import type { AutopilotSettings } from '../settings/autopilot-settings.ts';
import { hasChoice } from './suitable-load.ts';

/**
 * Whether any action that the settings allow could change how a load's page loads, by what is known of its network. A prediction, which takes a
 * second of processor time and more, is not worth it elsewhere unless a person asks for it.
 *
 * @param all stored loads, oldest first
 */
export async function mayGain(
  load: StoredLoad,
  all: readonly KnownLoad[],
  settings: AutopilotSettings,
): Promise<boolean> {
  const known = await readKnown(load, isSurprising(load, findComparableLoads(load, all)));
  return hasChoice(load, settings, known, visitsUntil(load, all));
}

/** Whether a load was slower than those before it with the same pins, or is the first after a change. */
function isSurprising(load: StoredLoad, comparable: readonly KnownLoad[]): boolean {
  const alike = comparable.filter((each) => hasSamePins(each, load));
  const isChanged = selectSinceChange([...alike, load]).length <= alike.length;
  return isChanged || isSlower(load, alike);
}

/**
 * What is known of a load's network for its page, with what the load itself shows.
 *
 * @param isSurprising whether the load is unlike those before it: the network may then no longer be as other sites' loads have shown it
 * @returns null for nothing, also where such a load was not learned
 */
async function readKnown({ recording }: StoredLoad, isSurprising: boolean): Promise<NetworkCluster | null> {
  const site = siteKey(recording.url);
  if (!isSurprising) return loadNetwork(site);
  const own = findSite(await loadNetworkMemory(), site);
  return own?.updatedAtMs === Date.parse(recording.recordedAt) ? own : null;
}

import { median } from '@hopwise/contract';
import type { StoredLoad } from '../storage/loads.ts';
import { maskQuery } from '../storage/strip-urls.ts';
import { isSlowed, judgeLoad, type LoadQuality } from './load-quality.ts';
import { networkOf } from './used-network.ts';
import { Visits } from './visit-kind.ts';

/** Pages and networks change: older loads are no evidence. */
const LONGEST_AGE_MS = 3 * 24 * 3_600_000;

/**
 * Full loads of the same page on the same network before a load, oldest first.
 *
 * @param all stored loads, oldest first
 */
export function findComparableLoads(load: StoredLoad, all: readonly StoredLoad[]): StoredLoad[] {
  return findNetworkLoads(load, all).filter(
    (each) => isSamePage(each, load) && judgeLoad(each).kind === 'full',
  );
}

/**
 * Loads of any page on the same network before a load, oldest first.
 *
 * @param all stored loads, oldest first
 */
function findNetworkLoads(load: StoredLoad, all: readonly StoredLoad[]): StoredLoad[] {
  const recordedMs = timeOf(load);
  const before = all.filter((each) => each.id < load.id && keyOf(each) === keyOf(load));
  const own = [...before, load].slice(startOfNetwork([...before, load]));
  return own.filter(
    (each) => each !== load && recordedMs - timeOf(each) < LONGEST_AGE_MS && isOnSameKind(each, load),
  );
}

/**
 * Tells first visits from later ones among a load and those before it on its network.
 *
 * @param all stored loads, oldest first
 */
export function visitsUntil(load: StoredLoad, all: readonly StoredLoad[]): Visits {
  return new Visits([...findNetworkLoads(load, all), load]);
}

const keyOf = ({ networkKey = null }: StoredLoad): string | null => networkKey;

/** Pages of this machine and of private addresses are apart from the internet; a load of an unknown network may be of either. */
function isOnSameKind(a: StoredLoad, b: StoredLoad): boolean {
  const networks = new Set([networkOf(a), networkOf(b)]);
  return networks.size === 1 || networks.has('unknown');
}

/** Where one of two loads was stored without its query string, their URLs are compared without. */
function isSamePage(a: StoredLoad, b: StoredLoad): boolean {
  const keyOf = a.hidesQueries || b.hidesQueries ? maskQuery : (url: string) => url;
  return keyOf(a.recording.url) === keyOf(b.recording.url);
}

export const hasPins = ({ pinned }: Pick<StoredLoad, 'pinned'>): boolean =>
  Object.keys(pinned ?? {}).length > 0;

/** Whether two loads had the same pins. */
export function hasSamePins(a: StoredLoad, b: StoredLoad): boolean {
  return keyOfPins(a) === keyOfPins(b);
}

/** A key that is equal for loads with the same pins. */
export function keyOfPins({ pinned }: Pick<StoredLoad, 'pinned'>): string {
  return JSON.stringify(Object.entries(pinned ?? {}).sort());
}

/** A load with its quality, judged also by the loads before it. */
export function judgeAmong(load: StoredLoad, comparable: readonly StoredLoad[]): LoadQuality {
  const quality = judgeLoad(load);
  if (quality.kind !== 'full') return quality;
  const others = comparable.filter((each) => hasSamePins(each, load)).map(pltOf);
  // The second slow load in a row shows that this is what the page takes now.
  const isFirst = !isSlowed(others.at(-1) ?? 0, others.slice(0, -1));
  return isFirst && isSlowed(pltOf(load), others) ? { ...quality, kind: 'disturbed' } : quality;
}

type Recorded = Pick<StoredLoad, 'recording'>;

/** A load time that is longer by more shows that something has changed. */
const SURPRISE = 1.33;

/** Whether a load took longer than is usual for the others of its page; false without any. */
export function isSlower(load: Recorded, others: readonly Recorded[]): boolean {
  return others.length > 0 && pltOf(load) > SURPRISE * median(others.map(pltOf));
}

export const pltOf = ({ recording }: Recorded): number => recording.pltMs ?? 0;
export const timeOf = ({ recording }: StoredLoad): number => Date.parse(recording.recordedAt);

/** Whether a load began on another network than the load before it: it has no summary of earlier loads. */
export const beginsNetwork = (load: StoredLoad): boolean => !load.cluster && networkOf(load) === 'internet';

const startOfNetwork = (loads: readonly StoredLoad[]): number =>
  Math.max(0, loads.findLastIndex(beginsNetwork));

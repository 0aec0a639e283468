import { DAY_MS, median } from '@hopwise/contract';
import { findChange } from '@hopwise/model';
import { isShared, isSlowed, type LoadKind } from '../load/load-quality.ts';
import { factsOf, type KnownLoad } from '../load/load-summary.ts';
import { maskQuery } from '../storage/strip-urls.ts';
import { Visits } from './visit-kind.ts';

/** Pages and networks change: older loads are no evidence. */
const LONGEST_AGE_MS = 3 * DAY_MS;

/**
 * Full loads of the same page on the same network before a load, oldest first, without those beside other tabs' loads and other traffic.
 *
 * @param all stored loads, oldest first
 */
export function findComparableLoads<L extends KnownLoad>(load: KnownLoad, all: readonly L[]): L[] {
  return findFullLoads(load, all).filter((each, index, full) => {
    const before = full.slice(0, index);
    // Shared loads that count are compared with shared ones alone.
    const isAlike = isShared(load) || !isShared(each);
    return isAlike && !isBesideTabs(each, before) && !isBesideTraffic(each, before);
  });
}

/** The same with those beside other tabs' loads and other traffic. */
const findFullLoads = <L extends KnownLoad>(load: KnownLoad, all: readonly L[]): L[] =>
  findNetworkLoads(load, all).filter((each) => isSamePage(each, load) && factsOf(each).kind === 'full');

/** A page of which as many loads were all shared with other tabs is always opened so: its next ones count. */
const SHARED_BEFORE = 2;

/** Whether a load is no evidence because other tabs loaded too; false where all loads of the page before it were shared as well. */
export const isBesideTabs = (load: Pick<KnownLoad, 'overlap'>, before: readonly KnownLoad[]): boolean =>
  isShared(load) && !(before.length >= SHARED_BEFORE && before.every(isShared));

/**
 * Where even a page's shortest wait for a response is longer than usual, by both, other traffic has filled the link's queue, such as a download: in 98%
 * of 511 loads the round trip seemed 2.1 times as long as it was or less (`estimate/recorded-elsewhere.ts` of the emulator).
 */
const MAX_WAIT_RATIO = 2.2;
const MAX_WAIT_EXCESS_MS = 30;
/** How many of the last loads show the usual wait: where most of them waited as long, it is the network's. */
const USUAL_LOADS = 3;

/** Whether a load shared its link with other traffic, judging by the loads of its page before it. */
function isBesideTraffic(load: KnownLoad, before: readonly KnownLoad[]): boolean {
  const shortestOf = (each: KnownLoad) => factsOf(each).waitMs ?? Infinity;
  const waitMs = shortestOf(load);
  const others = before.slice(-USUAL_LOADS).map(shortestOf);
  if (waitMs === Infinity || others.length === 0) return false;
  const usualMs = median(others);
  return waitMs > MAX_WAIT_RATIO * usualMs && waitMs > usualMs + MAX_WAIT_EXCESS_MS;
}

/**
 * Loads of any page on the same network before a load, oldest first.
 *
 * @param all stored loads, oldest first
 */
export function findNetworkLoads<L extends KnownLoad>(load: KnownLoad, all: readonly L[]): L[] {
  const recordedMs = timeOf(load);
  const before = all.filter((each) => each.id < load.id && keyOf(each) === keyOf(load));
  return before
    .slice(startOfNetwork([...before, load]))
    .filter((each) => recordedMs - timeOf(each) < LONGEST_AGE_MS && isOnSameKind(each, load));
}

/**
 * Tells first visits from later ones among a load and those before it on its network.
 *
 * @param all stored loads, oldest first
 */
export function visitsUntil(load: KnownLoad, all: readonly KnownLoad[]): Visits {
  return new Visits([...findNetworkLoads(load, all), load]);
}

const keyOf = ({ networkKey = null }: KnownLoad): string | null => networkKey;

/** Pages of this machine and of private addresses are apart from the internet; a load of an unknown network may be of either. */
function isOnSameKind(a: KnownLoad, b: KnownLoad): boolean {
  const networks = new Set([factsOf(a).network, factsOf(b).network]);
  return networks.size === 1 || networks.has('unknown');
}

/** Where one of two loads was stored without its query string, their URLs are compared without. */
function isSamePage(a: KnownLoad, b: KnownLoad): boolean {
  const keyOf = a.hidesQueries || b.hidesQueries ? maskQuery : (url: string) => url;
  return keyOf(a.recording.url) === keyOf(b.recording.url);
}

export const hasPins = ({ pinned }: Pick<KnownLoad, 'pinned'>): boolean =>
  Object.keys(pinned ?? {}).length > 0;

/** Whether two loads had the same pins. */
export function hasSamePins(a: Pick<KnownLoad, 'pinned'>, b: Pick<KnownLoad, 'pinned'>): boolean {
  return keyOfPins(a) === keyOfPins(b);
}

/** A key that is equal for loads with the same pins. */
export function keyOfPins({ pinned }: Pick<KnownLoad, 'pinned'>): string {
  return JSON.stringify(Object.entries(pinned ?? {}).sort());
}

/** What a load is good for, judged also by the loads before it. @param all stored loads, oldest first */
export function judgeAmong(load: KnownLoad, all: readonly KnownLoad[]): LoadKind {
  const { kind } = factsOf(load);
  if (kind !== 'full') return kind;
  const before = findFullLoads(load, all);
  if (isBesideTabs(load, before)) return 'shared';
  if (isBesideTraffic(load, before)) return 'disturbed';
  const others = findComparableLoads(load, all)
    .filter((each) => hasSamePins(each, load))
    .map(pltOf);
  // The second slow load in a row shows that this is what the page takes now.
  const isFirst = !isSlowed(others.at(-1) ?? 0, others.slice(0, -1));
  return isFirst && isSlowed(pltOf(load), others) ? 'disturbed' : kind;
}

/** Whether a load shows how long its page takes. @param all stored loads, oldest first */
export const showsLoadTime = (load: KnownLoad, all: readonly KnownLoad[]): boolean =>
  judgeAmong(load, all) === 'full';

interface Recorded {
  recording: Pick<KnownLoad['recording'], 'pltMs'>;
}

/** A load time that is longer by more shows that something has changed. */
const SURPRISE = 1.33;

/** Whether a load took longer than is usual for the others of its page; false without any. */
export function isSlower(load: Recorded, others: readonly Recorded[]): boolean {
  return others.length > 0 && pltOf(load) > SURPRISE * median(others.map(pltOf));
}

/** How many of a page's last loads show whether it has changed. */
const MAX_COMPARED = 25;

/**
 * The loads of a page since it last began to take another time, as a network or a server changes without notice: what it took before no
 * longer says what it takes. Judged by how its loads scatter, see `findChange`.
 *
 * @param loads of one page with the same pins, oldest first
 */
export function selectSinceChange<L extends Recorded>(loads: readonly L[]): L[] {
  const last = loads.slice(-MAX_COMPARED);
  let start = 0;
  let surprises: number[] = [];
  for (const [index, load] of last.entries()) {
    const before = last.slice(start, index).map(pltOf);
    surprises.push(before.length === 0 ? 0 : Math.log(pltOf(load) / median(before)));
    const changed = findChange(surprises);
    // A single load may have been disturbed.
    if (changed < 2) continue;
    start = index + 1 - changed;
    surprises = surprises.slice(-changed).map(() => 0);
  }
  return start === 0 ? [...loads] : last.slice(start);
}

export const pltOf = ({ recording }: Recorded): number => recording.pltMs ?? 0;
export const timeOf = ({ recording }: KnownLoad): number => Date.parse(recording.recordedAt);

/** Whether a load began on another network than the load before it: it has no summary of earlier loads, and is one that is learned. */
export const beginsNetwork = (load: KnownLoad): boolean =>
  !factsOf(load).hasCluster && factsOf(load).network === 'internet' && !isShared(load);

const startOfNetwork = (loads: readonly KnownLoad[]): number =>
  Math.max(0, loads.findLastIndex(beginsNetwork));

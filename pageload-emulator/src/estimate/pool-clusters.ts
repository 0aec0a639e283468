import type { UdpShares } from '@hopwise/contract';
import { UDP_PRIOR } from '../network/udp-prior.ts';
import {
  BETWEEN_LOADS,
  type ClusterFigure,
  HALF_LIFE_MS,
  isLinkShown,
  type Moments,
  type NetworkCluster,
} from './network-cluster.ts';

/** Rates that differ by this many standard deviations are of different networks. */
const OTHER_NETWORK = 3;
/** Shares are compared as if they were at least this: none is certain. */
const MIN_SHARE = 0.001;

/** A witness shows that UDP is hindered where it makes that this many times as probable as is assumed. */
const HINDERING = 2;

/** What is assumed of UDP where nothing is known. */
const PRIOR: UdpShares = {
  open: (1 - UDP_PRIOR.blocked) * (1 - UDP_PRIOR.policed),
  policed: (1 - UDP_PRIOR.blocked) * UDP_PRIOR.policed,
  blocked: UDP_PRIOR.blocked,
};

/** What loads showed of one network, by whose loads they were. */
export interface NetworkWitnesses {
  /** What the loads of each site showed, learned without those of the others. */
  sites: readonly NetworkCluster[];
  /** What an active check showed, which counts as two sites. */
  check?: NetworkCluster | null;
}

/**
 * Pools what the loads of several sites showed of one network, so that no site has more weight than another: a site may be slow, or
 * hinder its own HTTP/3, on purpose. That UDP is policed or blocked takes two sites that show it, or an active check; that it is open one.
 *
 * @returns null for no witnesses
 */
export function poolClusters({ sites, check = null }: NetworkWitnesses): NetworkCluster | null {
  const all = check === null ? sites : [...sites, check];
  const [first] = all;
  if (first === undefined) return null;
  const udp = poolUdp(check === null ? all : [...all, check]);
  return all.length === 1 ? { ...first, udp } : { ...poolFigures(all), udp };
}

/**
 * Pools what is known of a network for a page: what its own site's loads showed of UDP counts by itself, beside what others showed.
 *
 * @param own what the loads of the page's site showed
 * @param others what else is known
 */
export function poolForSite(own: NetworkCluster | null, others: NetworkWitnesses): NetworkCluster | null {
  const pooled = poolClusters(others);
  if (own === null || pooled === null) return own ?? pooled;
  const all = poolClusters({ ...others, sites: [own, ...others.sites] })!;
  return { ...all, udp: combineUdp(own.udp, pooled.udp) };
}

/**
 * Those that show how fast the link is. After loads over HTTP/3 alone its rate and a policer are guessed together: for another site the one
 * without the other would be wrong.
 */
export function witnessesOfLink({ sites, check = null }: NetworkWitnesses): NetworkWitnesses {
  return {
    sites: sites.filter(isLinkShown),
    check: check !== null && isLinkShown(check) ? check : null,
  };
}

/** What a site and others showed of a network, but what they showed of UDP only as far as the site did. */
export function ratesForSite(own: NetworkCluster | null, others: NetworkWitnesses): NetworkCluster | null {
  const all = poolClusters(own === null ? others : { ...others, sites: [own, ...others.sites] });
  return all && { ...all, udp: own?.udp ?? PRIOR };
}

/** Whether two clusters can be of the same network, by their rates. */
export function mayBeSameNetwork(a: NetworkCluster, b: NetworkCluster): boolean {
  return (['downBps', 'upBps'] as const).every((rate) => {
    const spread = Math.hypot(a[rate].spread, b[rate].spread, BETWEEN_LOADS[rate]);
    return Math.abs(a[rate].mean - b[rate].mean) < OTHER_NETWORK * spread;
  });
}

function poolFigures(all: readonly NetworkCluster[]): Omit<NetworkCluster, 'udp'> {
  const updatedAtMs = Math.max(...all.map((each) => each.updatedAtMs));
  const freshnessOf = (each: NetworkCluster) => 0.5 ** ((updatedAtMs - each.updatedAtMs) / HALF_LIFE_MS);
  const pool = (figure: ClusterFigure, weightOf = freshnessOf): Moments | undefined =>
    poolMoments(
      all.flatMap((each) => {
        const moments = each[figure];
        return moments === undefined ? [] : [{ moments, weight: weightOf(each) }];
      }),
      BETWEEN_LOADS[figure],
    );
  const lossBurst = pool('lossBurst');
  return {
    format: 'hopwise-network-cluster',
    version: 1,
    updatedAtMs,
    loads: all.reduce((sum, { loads }) => sum + loads, 0),
    rttMs: shortestOf(all),
    downBps: pool('downBps')!,
    upBps: pool('upBps')!,
    queueMs: pool('queueMs')!,
    loss: pool('loss')!,
    ...(lossBurst && { lossBurst }),
    // What a site showed of a policer that is hardly there says nothing.
    policedBps: pool('policedBps', (each) => freshnessOf(each) * Math.max(MIN_SHARE, each.udp.policed))!,
    showsLink: all.some(isLinkShown),
  };
}

/**
 * Pools estimates by their precision (a random-effects model). However sure one is, it weighs no more than loads vary; where they
 * disagree, the pool is that uncertain.
 */
function poolMoments(
  estimates: readonly { moments: Moments; weight: number }[],
  betweenLoads: number,
): Moments | undefined {
  if (estimates.length === 0) return undefined;
  const weighed = estimates.map(({ moments, weight }) => ({
    ...moments,
    weight: weight / (moments.spread ** 2 + betweenLoads ** 2),
  }));
  const sum = (of: (each: (typeof weighed)[number]) => number) =>
    weighed.reduce((total, each) => total + each.weight * of(each), 0);
  const total = sum(() => 1);
  const mean = sum((each) => each.mean) / total;
  const disagreement = sum((each) => (each.mean - mean) ** 2) / total;
  const least = Math.min(...weighed.map(({ spread }) => spread));
  return { mean, spread: Math.hypot(least, Math.sqrt(disagreement)) };
}

/** The shortest round trip, by its upper end: everything but the network only lengthens it, and one that is assumed is wide. */
function shortestOf(all: readonly NetworkCluster[]): Moments {
  const upperEnd = ({ mean, spread }: Moments) => mean + spread;
  return all.map(({ rttMs }) => rttMs).reduce((a, b) => (upperEnd(b) < upperEnd(a) ? b : a));
}

/**
 * Each way of hindering UDP is as probable as the second surest of the witnesses that show it says: one alone may hinder its own HTTP/3. That
 * UDP is not hindered one witness can show; those whose loads did not use HTTP/3 take nothing away from that.
 */
function poolUdp(witnesses: readonly NetworkCluster[]): UdpShares {
  const pool = (kind: 'policed' | 'blocked'): number => {
    const shares = witnesses.map(({ udp }) => udp[kind]);
    const hindering = shares.filter((share) => share > HINDERING * PRIOR[kind]).sort((a, b) => b - a);
    if (hindering.length === 0) return Math.min(PRIOR[kind], ...shares);
    return hindering[1] ?? PRIOR[kind];
  };
  const policed = pool('policed');
  const blocked = Math.min(1 - policed, pool('blocked'));
  return { open: 1 - policed - blocked, policed, blocked };
}

/** Combines two independent posteriors with the same prior. */
function combineUdp(a: UdpShares, b: UdpShares): UdpShares {
  const odds = (kind: keyof UdpShares) =>
    (Math.max(MIN_SHARE, a[kind]) * Math.max(MIN_SHARE, b[kind])) / PRIOR[kind];
  const [open, policed, blocked] = [odds('open'), odds('policed'), odds('blocked')];
  const total = open + policed + blocked;
  return { open: open / total, policed: policed / total, blocked: blocked / total };
}

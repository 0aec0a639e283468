/** What loads have shown on each network, as the options page lists it. */
import { medianOf } from '../evidence/statistics.ts';
import type { Experience } from './explorer-store.ts';

/** `local`: servers without a public address. The browser does not identify networks: both are of the one that it is on. */
export const LEARNT_NETWORKS = ['internet', 'local'] as const;

export type LearntNetwork = (typeof LEARNT_NETWORKS)[number];

/** Load times of a page by the way it was loaded, the least tried one last. */
export interface LearntPage {
  /** With its query string masked. */
  url: string;
  ways: { name: string; medianMs: number; loads: number }[];
}

export interface Learnt {
  network: LearntNetwork;
  /** The page that was loaded last is the first. */
  pages: LearntPage[];
}

/** Key of a page's cluster; that of the wider cluster is the network. */
export const keyOfPage = (network: LearntNetwork, url: string): string => `${network} ${url}`;

/** @returns networks with at least one page */
export function listLearnt({ explorer, scalesMs }: Experience): Learnt[] {
  const pagesOf = (network: LearntNetwork): LearntPage[] =>
    listKeys(scalesMs, network)
      .toReversed()
      .flatMap((key) => {
        const arms = explorer.clusters.get(key)?.arms ?? {};
        const ways = Object.entries(arms)
          .filter(([, loads]) => loads.length > 0)
          .map(([name, loads]) => ({
            name,
            medianMs: medianOf(loads.map(({ relative }) => relative)) * scalesMs.get(key)!,
            loads: loads.length,
          }))
          .sort((a, b) => b.loads - a.loads);
        return ways.length === 0 ? [] : { url: key.slice(network.length + 1), ways };
      });
  return LEARNT_NETWORKS.map((network) => ({ network, pages: pagesOf(network) })).filter(
    ({ pages }) => pages.length > 0,
  );
}

/** Forgets the pages of a network and what they have in common. */
export function forgetLearnt({ explorer, scalesMs }: Experience, network: LearntNetwork): void {
  explorer.forget(network);
  for (const key of listKeys(scalesMs, network)) {
    explorer.forget(key);
    scalesMs.delete(key);
  }
}

const listKeys = (scalesMs: ReadonlyMap<string, number>, network: LearntNetwork): string[] =>
  [...scalesMs.keys()].filter((key) => key.startsWith(keyOfPage(network, '')));

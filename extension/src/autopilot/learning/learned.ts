/** What loads have shown on each network, as the options page lists it. */
import { median } from '@hopwise/contract';
import type { Experience, StoredExperience } from './explorer-store.ts';

/** What a network has shown is kept apart for servers without a public address. */
export const LEARNED_PLACES = ['internet', 'local'] as const;

export type LearnedPlace = (typeof LEARNED_PLACES)[number];

/** Load times of a page by the way it was loaded, the least tried one last. */
export interface LearnedPage {
  /** With its query string masked. */
  url: string;
  ways: { name: string; medianMs: number; loads: number }[];
}

export interface Learned {
  /** Names the network, as the helper recognises it; null if it does not. */
  key: string | null;
  /** Whether the browser is on it now. */
  isCurrent: boolean;
  /** When a load on it was last learned from, milliseconds since 1970. */
  usedAtMs: number;
  place: LearnedPlace;
  /** The page that was loaded last is the first. */
  pages: LearnedPage[];
}

/** Key of a page's cluster; that of the wider cluster is the place. */
export const keyOfPage = (place: LearnedPlace, url: string): string => `${place} ${url}`;

/**
 * @param stored of all networks, in the order to list them
 * @param current key of the network that the browser is on
 * @returns networks with at least one page
 */
export function listLearned(stored: readonly StoredExperience[], current: string | null): Learned[] {
  return stored.flatMap(({ key, usedAtMs, ...experience }) =>
    LEARNED_PLACES.map((place) => {
      const pages = listPages(experience, place);
      return { key, isCurrent: key === current, usedAtMs, place, pages };
    }).filter(({ pages }) => pages.length > 0),
  );
}

function listPages({ explorer, scalesMs }: Experience, place: LearnedPlace): LearnedPage[] {
  return listKeys(scalesMs, place)
    .toReversed()
    .flatMap((key) => {
      const arms = explorer.clusters.get(key)?.arms ?? {};
      const ways = Object.entries(arms)
        .filter(([, loads]) => loads.length > 0)
        .map(([name, loads]) => ({
          name,
          medianMs: median(loads.map(({ relative }) => relative)) * scalesMs.get(key)!,
          loads: loads.length,
        }))
        .sort((a, b) => b.loads - a.loads);
      return ways.length === 0 ? [] : { url: urlOfPage(key), ways };
    });
}

/** Forgets the pages of a place and what they have in common. */
export function forgetPlace({ explorer, scalesMs }: Experience, place: LearnedPlace): void {
  explorer.forget(place);
  for (const key of listKeys(scalesMs, place)) {
    explorer.forget(key);
    scalesMs.delete(key);
  }
}

/**
 * Forgets pages, and what a place's pages have in common once none is left.
 *
 * @returns whether anything was forgotten
 */
export function forgetLearnedPages(
  { explorer, scalesMs }: Experience,
  isForgotten: (url: string) => boolean,
): boolean {
  const before = scalesMs.size;
  for (const key of [...scalesMs.keys()]) {
    if (!isForgotten(urlOfPage(key))) continue;
    explorer.forget(key);
    scalesMs.delete(key);
  }
  for (const place of LEARNED_PLACES) if (listKeys(scalesMs, place).length === 0) explorer.forget(place);
  return scalesMs.size < before;
}

const urlOfPage = (key: string): string => key.slice(key.indexOf(' ') + 1);

const listKeys = (scalesMs: ReadonlyMap<string, number>, place: LearnedPlace): string[] =>
  [...scalesMs.keys()].filter((key) => key.startsWith(keyOfPage(place, '')));

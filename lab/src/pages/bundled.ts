import type { GeneratedSite } from '../sites/write-site.ts';
import { generateSite, type SiteSpec } from './page-generator.ts';

/** The pages that come with hopwise. */
export const BUNDLED_PAGES = {
  /** A product grid: many images on one origin. */
  shop: { kind: 'shop', seed: 7, name: 'shop', requests: 84, origins: 7, bytes: 1_300_000, depth: 4 },
  /** A front page: many images, advertisements and scripts of third parties. */
  news: { kind: 'news', seed: 11, name: 'news', requests: 126, origins: 10, bytes: 2_200_000, depth: 5 },
  /** An application shell: one document, a chain of scripts and modules, JSON. */
  app: { kind: 'app', seed: 3, name: 'app', requests: 70, origins: 6, bytes: 1_200_000, depth: 6 },
} as const satisfies Record<string, SiteSpec>;

export type BundledPage = keyof typeof BUNDLED_PAGES;

export const isBundledPage = (name: string): name is BundledPage => Object.hasOwn(BUNDLED_PAGES, name);

export const bundledSite = (page: BundledPage): GeneratedSite => generateSite(BUNDLED_PAGES[page]);

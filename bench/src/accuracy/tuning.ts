/**
 * The pages and networks that the emulator was tuned on. Its constants come from specifications, source code and papers where
 * possible; the others, such as a browser's cost for each request, were chosen with measured loads of these pages on these
 * networks in view. Their figures are flattered; those of other pages show what to expect of a new page. A page or network used
 * to choose a constant belongs on these lists from then on.
 */
import type { CellScore } from './scores.ts';

const TUNED_PAGES: readonly string[] = [
  'shop',
  'app',
  'news',
  'thegreenweb-2020',
  'vercel-2021',
  // Used request by request to model the browser's own limits.
  'pwa-rocks-2017',
  'npm-admin',
  'npm-editor',
  // In view when the length of an emulated burst and the last step of the ranges' spread were chosen.
  'web-p25',
  'squoosh-2024',
  'paulirish-2024',
  'mikescerealshack-2025',
  'filamentgroup-2017',
  'npm-modules',
];
const TUNED_NETWORKS: readonly string[] = [
  'fast',
  'cable',
  'lte',
  'lossy',
  // Used to develop estimating a network from a recording.
  '3g',
  'wifi-bursty',
  'udp-policed',
  // The spreads of predictions were fitted on the tuned pages there too.
  'dsl',
  'lte-poor',
];

export const TUNING_GROUPS = ['tunedPages', 'otherPages', 'otherPagesOnOtherNetworks'] as const;
export type TuningGroup = (typeof TUNING_GROUPS)[number];

export const TUNING_NAMES: Record<TuningGroup, string> = {
  tunedPages: 'tuned on',
  otherPages: 'never used',
  otherPagesOnOtherNetworks: 'nor the network',
};

export const TUNING_NOTE = `Tuned on: ${TUNED_PAGES.join(', ')}, which the emulator was tuned on, on the networks ${TUNED_NETWORKS.join(', ')}. Never used: all other pages; nor the network: those on all other networks.`;

/** Cells of each group; the third is part of the second. */
export function tuningGroups(scores: readonly CellScore[]): Record<TuningGroup, CellScore[]> {
  const others = scores.filter(({ page }) => !TUNED_PAGES.includes(page));
  return {
    tunedPages: scores.filter(({ page }) => TUNED_PAGES.includes(page)),
    otherPages: others,
    otherPagesOnOtherNetworks: others.filter(({ network }) => !TUNED_NETWORKS.includes(network)),
  };
}

import type { PaintTimes } from '@hopwise/contract';
import { t } from '../language/translate.ts';
import { formatDuration } from './format.ts';

/** What browsers' tools mark in a load: DOMContentLoaded, First and Largest Contentful Paint, the load event. CSS classes are named after them. */
export type MilestoneKind = 'dcl' | 'fcp' | 'lcp' | 'load';

/** A milestone of a load. */
export interface Milestone {
  kind: MilestoneKind;
  /** Milliseconds after navigationStart. */
  ms: number;
}

interface MilestoneTimes extends PaintTimes {
  pltMs: number | null;
  /** Absent for emulated loads, in which nothing parses the document. */
  domContentLoadedMs?: number | null;
}

/** Names that are short enough to stand beside a line. */
export const SHORT_NAMES: Readonly<Record<MilestoneKind, string>> = {
  dcl: 'DCL',
  fcp: 'FCP',
  lcp: 'LCP',
  load: 'Load',
};

/** The milestones of a load that are known. */
export function listMilestones(times: MilestoneTimes): Milestone[] {
  const all: [MilestoneKind, number | null][] = [
    ['dcl', times.domContentLoadedMs ?? null],
    ['fcp', times.firstContentfulPaintMs],
    ['lcp', times.largestContentfulPaintMs],
    ['load', times.pltMs],
  ];
  return all.flatMap(([kind, ms]) => (ms === null ? [] : { kind, ms }));
}

export function nameMilestone(kind: MilestoneKind): string {
  return {
    dcl: 'DOMContentLoaded',
    fcp: t('milestoneFcp'),
    lcp: t('milestoneLcp'),
    load: t('legendLoadEvent'),
  }[kind];
}

/** `First Contentful Paint (FCP) 220 ms` */
export const describeMilestone = ({ kind, ms }: Milestone): string =>
  `${nameMilestone(kind)}${kind === 'load' ? '' : ` (${SHORT_NAMES[kind]})`} ${formatDuration(ms)}`;

/** Load times of each arm against the browser alone. */
import { groupBy, median } from '@hopwise/contract';
import { bootstrapInterval, drawn } from '@hopwise/lab/statistics';
import { type PerKind, type ProcessorTimes, sumKinds } from '../recorder/processor-time.ts';
import type { ProductArm } from './arms.ts';
import { keyOf, listAlone } from './browser-alone.ts';
import type { Estimate } from './figure-text.ts';
import type { StoredVisit } from './store.ts';

/** Visits that an arm is judged by. */
export const VISIT_GROUPS: readonly { name: string; has(pair: Pair): boolean }[] = [
  { name: 'visit 1', has: ({ visit }) => visit === 1 },
  { name: 'visit 2', has: ({ visit }) => visit === 2 },
  { name: 'later', has: ({ visit }) => visit >= 3 },
  // The first one's visits are those in which a profile learns what the network is like.
  { name: 'later pages', has: ({ isFirstPage }) => !isFirstPage },
  { name: 'all', has: () => true },
];

/** The bootstrap of fewer visits gives too narrow an interval, that of a single one a point: they have none. */
export const FEWEST_DRAWN = 5;

/** A visit beside that of the browser alone, see `listAlone`. */
interface Pair {
  cell: string;
  visit: number;
  /** Whether the page is the first of its network. */
  isFirstPage: boolean;
  ratio: number;
  ms: number;
  offMs: number;
  processorMs: ProcessorTimes;
  offProcessorMs: ProcessorTimes;
  memoryMb?: PerKind;
  offMemoryMb?: PerKind;
  restMs?: PerKind;
  offRestMs?: PerKind;
}

/** What is used while no page loads, beside the browser alone. */
export interface Upkeep {
  total: number;
  offTotal: number;
  /** The part of the extension's worker and of the helper. */
  own: number;
}

/** One arm on one network, or on all. */
export interface ArmFigures {
  arm: ProductArm;
  network: string;
  /** Geometric mean of the load times over those of the browser alone, by `VISIT_GROUPS`; null without visits. */
  ratios: (Estimate | null)[];
  /** The ratio of the sums: by how much a person waits less. */
  waiting: number;
  /** The page with the highest ratio, and that. */
  worst: { page: string; ratio: Estimate };
  /** Processor time a visit over that of the browser alone, of the sums. */
  processor: number;
  /** What each kind of process adds to that of the browser alone, as a share of the whole; together `processor` less one. */
  processorAdded: ProcessorTimes;
  /** Memory after a visit, megabytes, means; null where it was not measured. */
  memory: Upkeep | null;
  /** Processor time of a minute after the last visit, in which no page is open, milliseconds; likewise. */
  rest: Upkeep | null;
  /** The figures of each visit alone, in order: a network is learned from its first ones. */
  byVisit: VisitFigures[];
  /** Medians of the browser alone and of the arm, milliseconds. */
  offMs: number;
  ms: number;
  visits: number;
  disturbed: number;
}

/** One visit to every page. */
interface VisitFigures {
  visit: number;
  /** Geometric mean of the load times over those of the browser alone. */
  ratio: Estimate;
  processor: number;
  /** Mean processor time of the extension's worker and of the helper, milliseconds a load. */
  ownProcessorMs: number;
}

/** @param visits with those of the arm `off`, and of `off-again` where it was measured; not every arm was measured on every network */
export function judgeProduct(visits: readonly StoredVisit[]): ArmFigures[] {
  const arms = [...new Set(visits.map(({ arm }) => arm))].filter((arm) => arm !== 'off');
  const networks = [...new Set(visits.map(({ network }) => network))];
  return arms.flatMap((arm) => {
    const own = networks.filter((network) =>
      visits.some((each) => each.arm === arm && each.network === network),
    );
    const places = own.length > 1 ? [...own, 'all'] : own;
    return places.map((network) =>
      judgeArm(
        arm,
        network,
        visits.filter((visit) => network === 'all' || visit.network === network),
      ),
    );
  });
}

function judgeArm(arm: ProductArm, network: string, visits: readonly StoredVisit[]): ArmFigures {
  const off = new Map(listAlone(arm, visits).map((each) => [keyOf(each), each]));
  const own = visits.filter((each) => each.arm === arm);
  const pairs = own.map((each): Pair => {
    const alone = off.get(keyOf(each))!;
    return {
      cell: `${each.network} ${each.page}`,
      visit: each.visit,
      isFirstPage: each.page === own.find(({ network }) => network === each.network)!.page,
      ratio: each.pltMs / alone.pltMs,
      ms: each.pltMs,
      offMs: alone.pltMs,
      processorMs: each.processorMs,
      offProcessorMs: alone.processorMs,
      ...(each.memoryMb && alone.memoryMb && { memoryMb: each.memoryMb, offMemoryMb: alone.memoryMb }),
      ...(each.restMs && alone.restMs && { restMs: each.restMs, offRestMs: alone.restMs }),
    };
  });
  const cells = [...groupBy(pairs, ({ cell }) => cell)].map(([cell, own]) => ({
    page: cell,
    ratio: ratioOverVisits(own),
  }));
  const aloneMs = sumOf(pairs, ({ offProcessorMs }) => sumKinds(offProcessorMs));
  const added = (kind: keyof ProcessorTimes) =>
    sumOf(pairs, ({ processorMs, offProcessorMs }) => processorMs[kind] - offProcessorMs[kind]) / aloneMs;
  return {
    arm,
    network,
    ratios: VISIT_GROUPS.map(({ has }) => ratioOverCells(pairs.filter(has))),
    waiting: sumOf(pairs, ({ ms }) => ms) / sumOf(pairs, ({ offMs }) => offMs),
    worst: cells.reduce((a, b) => (b.ratio.estimate > a.ratio.estimate ? b : a)),
    processor: processorRatio(pairs),
    processorAdded: {
      browser: added('browser'),
      pages: added('pages'),
      extension: added('extension'),
      helper: added('helper'),
    },
    memory: upkeepOf(pairs.map(({ memoryMb, offMemoryMb }) => [memoryMb, offMemoryMb])),
    rest: upkeepOf(pairs.map(({ restMs, offRestMs }) => [restMs, offRestMs])),
    byVisit: [...groupBy(pairs, ({ visit }) => visit)].map(([visit, each]) => ({
      visit,
      ratio: ratioOverVisits(each),
      processor: processorRatio(each),
      ownProcessorMs:
        sumOf(each, ({ processorMs }) => processorMs.extension + processorMs.helper) / each.length,
    })),
    offMs: median(pairs.map(({ offMs }) => offMs)),
    ms: median(pairs.map(({ ms }) => ms)),
    visits: pairs.length,
    disturbed: own.filter((each) => [each, off.get(keyOf(each))!].some((one) => one.disturbedBy.length > 0))
      .length,
  };
}

function upkeepOf(pairs: readonly [own?: PerKind, alone?: PerKind][]): Upkeep | null {
  const measured = pairs.filter((pair): pair is [PerKind, PerKind] => pair[0] !== undefined);
  if (measured.length === 0) return null;
  const meanOf = (of: (pair: [PerKind, PerKind]) => number) =>
    measured.reduce((sum, pair) => sum + of(pair), 0) / measured.length;
  return {
    total: meanOf(([own]) => sumKinds(own)),
    offTotal: meanOf(([, alone]) => sumKinds(alone)),
    own: meanOf(([{ extension, helper }]) => extension + helper),
  };
}

const sumOf = (pairs: readonly Pair[], of: (pair: Pair) => number): number =>
  pairs.reduce((total, pair) => total + of(pair), 0);

const processorRatio = (pairs: readonly Pair[]): number =>
  sumOf(pairs, ({ processorMs }) => sumKinds(processorMs)) /
  sumOf(pairs, ({ offProcessorMs }) => sumKinds(offProcessorMs));

const geometricMean = (pairs: readonly Pair[]): number =>
  Math.exp(pairs.reduce((sum, { ratio }) => sum + Math.log(ratio), 0) / pairs.length);

/** The interval is over cells, each of a network and a page, whose visits belong together; over visits where there is one cell. None where they are too few. */
function ratioOverCells(pairs: readonly Pair[]): Estimate | null {
  if (pairs.length === 0) return null;
  const cells = [...groupBy(pairs, ({ cell }) => cell).values()];
  if (cells.length === 1 || pairs.length < FEWEST_DRAWN) return ratioOverVisits(pairs);
  return bootstrapInterval(geometricMean(pairs), (random) =>
    geometricMean(drawn(cells, random).flatMap((cell) => drawn(cell, random))),
  );
}

function ratioOverVisits(pairs: readonly Pair[]): Estimate {
  const estimate = geometricMean(pairs);
  if (pairs.length < FEWEST_DRAWN) return { estimate };
  return bootstrapInterval(estimate, (random) => geometricMean(drawn(pairs, random)))!;
}

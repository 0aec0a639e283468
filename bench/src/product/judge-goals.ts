/** What hopwise is to do for a person on all networks together, beside its goals: the figures that a published run is read for. */
import { groupBy } from '@hopwise/contract';
import { bootstrapInterval, drawn } from '@hopwise/lab/statistics';
import { sumKinds } from '../recorder/processor-time.ts';
import type { ProductArm } from './arms.ts';
import { listAlone } from './browser-alone.ts';
import type { Estimate } from './figure-text.ts';
import { FEWEST_DRAWN } from './judge-product.ts';
import { networkNamed } from './networks.ts';
import { partsOf } from './run-product.ts';
import type { StoredVisit } from './store.ts';

/** Arms that keep to one protocol: what could be gained at best shows in them. */
const REFERENCES = ['h1', 'h2', 'h3'] as const satisfies readonly ProductArm[];
/** No page is to be surely slower by more. */
const HARM = 1.02;

/** A figure of each arm, with a 95% interval over pages; null where it was not measured. */
export interface GoalRow {
  what: string;
  /** What `figures` are: ratios to the browser alone, or shares. */
  unit: 'ratio' | 'share';
  goal: string;
  figures: Map<ProductArm, Estimate | null>;
}

export interface Goals {
  rows: GoalRow[];
  /** By arm: pages on networks that leave UDP open that are surely slower than by `HARM`, of how many with enough visits to tell. */
  harmed: Map<ProductArm, { pages: number; of: number }>;
}

/** The visits of a page on a network by the arm that is judged, beside those of the browser alone, see `listAlone`. */
interface GoalCell {
  hindersUdp: boolean;
  /** Whether the profile had visited no other page on the network. */
  isFirstPage: boolean;
  pairs: { visit: number; ms: number; offMs: number; processorMs: number; offProcessorMs: number }[];
  /** By visit: load time of the protocol that takes the least over all of the page's visits, the browser's own choice among them; null without any. */
  bestMs: Map<number, number> | null;
}

type Pair = GoalCell['pairs'][number];

/** Whether a network hinders UDP, or one of those that replace one another. */
export const hindersUdp = (network: string): boolean =>
  partsOf(network).some((part) => networkNamed(part).udp !== 'open');

/**
 * Judges every arm but those of `REFERENCES`.
 *
 * @param visits in the order in which they were made, with those of the arm `off`
 */
export function judgeGoals(visits: readonly StoredVisit[]): Goals {
  const arms = [...new Set(visits.map(({ arm }) => arm))].filter(
    (arm) => arm !== 'off' && !REFERENCES.some((reference) => reference === arm),
  );
  const cells = new Map(arms.map((arm) => [arm, listCells(arm, visits)]));
  const row = (
    what: string,
    unit: GoalRow['unit'],
    goal: string,
    figureOf: (cells: readonly GoalCell[]) => Estimate | null,
  ): GoalRow => ({
    what,
    unit,
    goal,
    figures: new Map(arms.map((arm) => [arm, figureOf(cells.get(arm)!)])),
  });
  const open = (all: readonly GoalCell[]) => all.filter(({ hindersUdp }) => !hindersUdp);
  const hindered = (all: readonly GoalCell[], isFirst: boolean) =>
    all.filter(({ hindersUdp, isFirstPage }) => hindersUdp && isFirstPage === isFirst);
  return {
    rows: [
      row('load time', 'ratio', 'record ≤ +1%, auto ≤ −30%', (all) => meanRatio(all)),
      row('time spent waiting', 'ratio', 'auto ≤ −40%', (all) =>
        ofSums(
          all,
          ({ ms }) => ms,
          ({ offMs }) => offMs,
        ),
      ),
      row('first visits', 'ratio', '≤ +2%', (all) => meanRatio(all, ({ visit }) => visit === 1)),
      row('where UDP is open', 'ratio', '≤ +1%', (all) => meanRatio(open(all))),
      row(
        'of what can be gained where UDP is hindered: first page, from its second visit on',
        'share',
        '≥ 80%',
        (all) => shareGained(hindered(all, true), ({ visit }) => visit > 1),
      ),
      row('the same: later pages, from their first visit on', 'share', '≥ 90%', (all) =>
        shareGained(hindered(all, false), () => true),
      ),
      row('processor time', 'ratio', 'record ≤ +2%, auto ≤ +10%', (all) =>
        ofSums(
          all,
          ({ processorMs }) => processorMs,
          ({ offProcessorMs }) => offProcessorMs,
        ),
      ),
    ],
    harmed: new Map(
      arms.map((arm) => {
        const own = open(cells.get(arm)!).filter(({ pairs }) => pairs.length >= FEWEST_DRAWN);
        const pages = own.filter((cell) => (meanRatio([cell])?.low ?? 0) > HARM).length;
        return [arm, { pages, of: own.length }];
      }),
    ),
  };
}

function listCells(arm: ProductArm, visits: readonly StoredVisit[]): GoalCell[] {
  const firstPages = new Map<string, string>();
  for (const { network, page } of visits) if (!firstPages.has(network)) firstPages.set(network, page);
  const cells = groupBy(visits, ({ network, page }) => JSON.stringify([network, page]));
  return [...cells.values()].map((own): GoalCell => {
    const { network, page } = own[0]!;
    const timesOf = (each: ProductArm) =>
      new Map(own.filter((one) => one.arm === each).map((one) => [one.visit, one]));
    const off = new Map(listAlone(arm, own).map((one) => [one.visit, one]));
    const pairs = [...timesOf(arm).values()].map(({ visit, pltMs, processorMs }): Pair => {
      const alone = off.get(visit)!;
      return {
        visit,
        ms: pltMs,
        offMs: alone.pltMs,
        processorMs: sumKinds(processorMs),
        offProcessorMs: sumKinds(alone.processorMs),
      };
    });
    return {
      hindersUdp: hindersUdp(network),
      isFirstPage: firstPages.get(network) === page,
      pairs,
      bestMs: findBest(off, REFERENCES.map(timesOf)),
    };
  });
}

function findBest(
  off: ReadonlyMap<number, StoredVisit>,
  references: readonly ReadonlyMap<number, StoredVisit>[],
): GoalCell['bestMs'] {
  const measured = references.filter(({ size }) => size > 0);
  if (measured.length === 0) return null;
  const sum = (times: ReadonlyMap<number, StoredVisit>) =>
    [...times.values()].reduce((total, { pltMs }) => total + pltMs, 0);
  const best = [off, ...measured].reduce((a, b) => (sum(b) < sum(a) ? b : a));
  return new Map([...best].map(([visit, { pltMs }]) => [visit, pltMs]));
}

/** Draws cells, and the visits of each. */
const resample = (cells: readonly GoalCell[], random: Parameters<typeof drawn>[1]): GoalCell[] =>
  (cells.length === 1 ? cells : drawn(cells, random)).map((cell) => ({
    ...cell,
    pairs: drawn(cell.pairs, random),
  }));

function intervalOf(
  cells: readonly GoalCell[],
  isCounted: (pair: Pair) => boolean,
  figureOf: (cells: readonly GoalCell[]) => number | null,
): Estimate | null {
  const counted = cells
    .map((cell) => ({ ...cell, pairs: cell.pairs.filter(isCounted) }))
    .filter(({ pairs }) => pairs.length > 0);
  const figure = counted.length === 0 ? null : figureOf(counted);
  if (figure === null) return null;
  return counted.flatMap(({ pairs }) => pairs).length < FEWEST_DRAWN
    ? { estimate: figure }
    : bootstrapInterval(figure, (random) => figureOf(resample(counted, random)));
}

/** Geometric mean of the load times over those of the browser alone. */
const meanRatio = (
  cells: readonly GoalCell[],
  isCounted: (pair: Pair) => boolean = () => true,
): Estimate | null =>
  intervalOf(cells, isCounted, (some) => {
    const pairs = some.flatMap((cell) => cell.pairs);
    return Math.exp(pairs.reduce((sum, { ms, offMs }) => sum + Math.log(ms / offMs), 0) / pairs.length);
  });

const ofSums = (
  cells: readonly GoalCell[],
  ownOf: (pair: Pair) => number,
  offOf: (pair: Pair) => number,
): Estimate | null =>
  intervalOf(
    cells,
    () => true,
    (some) => {
      const pairs = some.flatMap((cell) => cell.pairs);
      const sum = (of: (pair: Pair) => number) => pairs.reduce((total, pair) => total + of(pair), 0);
      return sum(ownOf) / sum(offOf);
    },
  );

/** What an arm gains, as a share of what the best protocol does; null where no protocol was measured, or nothing can be gained. */
const shareGained = (cells: readonly GoalCell[], isCounted: (pair: Pair) => boolean): Estimate | null =>
  intervalOf(
    cells.filter(({ bestMs }) => bestMs !== null),
    isCounted,
    (some) => {
      let [gainedMs, possibleMs] = [0, 0];
      for (const { pairs, bestMs } of some) {
        for (const { visit, ms, offMs } of pairs) {
          gainedMs += offMs - ms;
          possibleMs += offMs - bestMs!.get(visit)!;
        }
      }
      return possibleMs > 0 ? gainedMs / possibleMs : null;
    },
  );

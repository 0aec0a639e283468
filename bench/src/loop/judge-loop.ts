/** The load times of the closed loop as it ships, against the browser alone and against the best fixed protocol. */
import { groupBy, mean } from '@hopwise/contract';
import { bootstrapInterval, type ConfidenceInterval, drawn } from '@hopwise/lab/statistics';
import type { ProductArm } from '../product/arms.ts';
import type { LoopVisit } from './loop-visit.ts';

/** Arms that keep to one choice; the browser's own is one of them. */
export const FIXED = ['off', 'h1', 'h2', 'h3'] as const satisfies readonly ProductArm[];
export type FixedArm = (typeof FIXED)[number];

/** A page on a network. */
interface LoopCell {
  network: string;
  page: string;
  visits: number;
  /** Means, milliseconds. */
  loopMs: number;
  fixedMs: Record<FixedArm, number>;
  best: FixedArm;
  disturbed: number;
}

export interface LoopFigures {
  network: string;
  cells: LoopCell[];
  /** Geometric means over cells of mean load times, with 95% intervals over cells and visits. */
  againstOff: ConfidenceInterval;
  /** Against the better of the browser's own choice and HTTP/2: more is not to be had by keeping HTTP/3 off. */
  againstReachable: ConfidenceInterval;
  /** The best one is picked by the same visits that give its time, so that this is a little too high. */
  againstBest: ConfidenceInterval;
}

/**
 * @param loop the arm that is judged
 * @param visits with those of the fixed arms
 * @returns figures for each network, then for all
 */
export function judgeLoop(loop: ProductArm, visits: readonly LoopVisit[]): LoopFigures[] {
  const networks = [...new Set(visits.map(({ network }) => network))];
  const places = networks.length > 1 ? [...networks, 'all'] : networks;
  return places.map((network) => {
    const own = visits.filter((visit) => network === 'all' || visit.network === network);
    const cells = [...groupBy(own, ({ network, page }) => `${network} ${page}`).values()];
    return {
      network,
      cells: cells.map((cell) => figuresOf(loop, cell)),
      againstOff: intervalOf(cells, (cell) => {
        const { loopMs, fixedMs } = figuresOf(loop, cell);
        return loopMs / fixedMs.off;
      }),
      againstReachable: intervalOf(cells, (cell) => {
        const { loopMs, fixedMs } = figuresOf(loop, cell);
        return loopMs / Math.min(fixedMs.off, fixedMs.h2);
      }),
      againstBest: intervalOf(cells, (cell) => {
        const { loopMs, fixedMs, best } = figuresOf(loop, cell);
        return loopMs / fixedMs[best];
      }),
    };
  });
}

function figuresOf(loop: ProductArm, cell: readonly LoopVisit[]): LoopCell {
  const of = (arm: ProductArm) => cell.filter((visit) => visit.arm === arm);
  const meanOf = (arm: ProductArm) => mean(of(arm).map(({ pltMs }) => pltMs));
  const fixedMs = { off: meanOf('off'), h1: meanOf('h1'), h2: meanOf('h2'), h3: meanOf('h3') };
  const { network, page } = cell[0]!;
  return {
    network,
    page,
    visits: of(loop).length,
    loopMs: meanOf(loop),
    fixedMs,
    best: FIXED.reduce((a, b) => (fixedMs[b] < fixedMs[a] ? b : a)),
    disturbed: of(loop).filter(({ disturbedBy }) => disturbedBy.length > 0).length,
  };
}

/** Draws cells, and in each of them the visits of each arm. */
function intervalOf(
  cells: readonly (readonly LoopVisit[])[],
  ratioOf: (cell: readonly LoopVisit[]) => number,
): ConfidenceInterval {
  const geometricMean = (some: readonly (readonly LoopVisit[])[]) =>
    Math.exp(mean(some.map((cell) => Math.log(ratioOf(cell)))));
  const drawVisits = (cell: readonly LoopVisit[], random: Parameters<typeof drawn>[1]) =>
    [...groupBy(cell, ({ arm }) => arm).values()].flatMap((visits) => drawn(visits, random));
  return bootstrapInterval(geometricMean(cells), (random) =>
    geometricMean(drawn(cells, random).map((cell) => drawVisits(cell, random))),
  )!;
}

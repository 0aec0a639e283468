import type { Limits } from './budget.ts';

/** What a budget limits, in the units of `Limits`. */
export type CheckedFigures = { [Figure in keyof Limits]-?: number | null };

/** One limit beside the figure that it is for. */
export interface Judgement {
  figure: keyof Limits;
  value: number;
  limit: number;
  isBreach: boolean;
}

/** Figures of which more is better. */
const AT_LEAST: readonly (keyof Limits)[] = ['originsOnBest'];
const FIGURES = ['loadTimeMs', 'firstPaintMs', 'largestPaintMs', 'originsOnBest', 'gainLeft'] as const;

/** Compares figures with limits. A figure that equals its limit is within it; one that is unknown is not judged. */
export function judgeFigures(figures: CheckedFigures, limits: Limits): Judgement[] {
  return FIGURES.flatMap((figure) => {
    const value = figures[figure];
    const limit = limits[figure];
    if (value === null || limit === undefined) return [];
    const isBreach = AT_LEAST.includes(figure) ? value < limit : value > limit;
    return [{ figure, value, limit, isBreach }];
  });
}

/** The limits that cannot be judged, as their figures are unknown. */
export function unjudgedLimits(figures: CheckedFigures, limits: Limits): (keyof Limits)[] {
  return FIGURES.filter((figure) => figures[figure] === null && limits[figure] !== undefined);
}

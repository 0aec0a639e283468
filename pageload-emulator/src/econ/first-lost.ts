import type { FlowConditions } from './flow-conditions.ts';

/** Where in a round the first segment is lost. Segments are counted from 1. */
export interface FirstLost {
  /** Probability that the round loses one at all. */
  readonly probability: number;
  /** Expected number of segments up to the first lost, its own included; all of them where none is lost. */
  readonly expected: number;
  /** Probability that none of the first `segments` is lost. */
  survives(segments: number): number;
  /** The first place after which the probability that none is lost is at most `survival`. */
  placeWhere(survival: number): number;
}

/**
 * The first loss among `cwnd` segments: at each with its own probability, or an event equally likely at
 * each, as it was measured (`LossByWindow`), and always at the first segment for which the queue has no room.
 *
 * @param before window of the round before, as `LossByWindow.inRound` takes it
 * @param held how many of a window that overflows the queue holds; `roomSegments` of them when left out
 */
export function firstLost(
  conditions: Pick<FlowConditions, 'loss' | 'roomSegments'>,
  cwnd: number,
  before: number | undefined,
  held = conditions.roomSegments ?? cwnd,
): FirstLost {
  const { loss, roomSegments = Number.POSITIVE_INFINITY } = conditions;
  const overflows = cwnd > roomSegments;
  const event = loss.inRound(cwnd, before);
  const perSegment = loss.perSegment?.(cwnd);
  const survives =
    perSegment === undefined
      ? (segments: number) => (segments > held && overflows ? 0 : 1 - (event * segments) / cwnd)
      : (segments: number) =>
          segments > held && overflows ? 0 : Math.exp(segments * Math.log1p(-perSegment));
  const places = overflows ? held + 1 : cwnd;
  const probability = overflows ? 1 : 1 - survives(cwnd);
  return {
    probability,
    expected: sumOfSurvival(places),
    survives,
    placeWhere(survival) {
      const place =
        perSegment === undefined
          ? ((1 - survival) * cwnd) / event
          : Math.log(survival) / Math.log1p(-perSegment);
      return Number.isFinite(place) ? Math.min(places, Math.max(1, Math.ceil(place))) : places;
    },
  };

  /** Σ of survives(i) for i from 0 to `terms` − 1. */
  function sumOfSurvival(terms: number): number {
    if (perSegment === undefined) return terms - (event * terms * (terms - 1)) / (2 * cwnd);
    if (perSegment === 0) return terms;
    return -Math.expm1(terms * Math.log1p(-perSegment)) / perSegment;
  }
}

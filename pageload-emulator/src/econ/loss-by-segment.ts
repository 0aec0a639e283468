import type { LossByWindow } from './loss-by-window.ts';

/**
 * Loss by window where each segment is lost independently of the others: 1 − (1 − p)^cwnd in a round.
 *
 * @param loss probability per segment, below 1, one for all windows or by the window
 */
export function lossBySegment(loss: number | ((cwnd: number) => number)): LossByWindow {
  const perSegment = typeof loss === 'number' ? () => loss : loss;
  return {
    inRound: (cwnd) => -Math.expm1(cwnd * Math.log1p(-perSegment(cwnd))),
    perSegment,
    smallest: 1,
    largest: Number.POSITIVE_INFINITY,
  };
}

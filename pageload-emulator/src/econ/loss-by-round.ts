import { firstIndexWhere } from '../util/ordered.ts';
import type { LossByWindow } from './loss-by-window.ts';
import type { WindowCount } from './pcwnd-files.ts';

/** Standard deviation of the smoothing, in the window's natural logarithm: 5% of the window. */
const BANDWIDTH = 0.05;
/** The standard deviations beyond which a window counts for nothing. */
const REACH = 4;
/** Loss events that the prior is worth: Jeffreys' for a Poisson rate. */
const PRIOR_EVENTS = 0.5;

/**
 * Loss by window from counted rounds, as a smoothed event rate: loss events over packets of the windows near
 * by, weighted by a normal kernel in ln(cwnd). The prior is a gamma distribution worth half an event, with the
 * rate of all windows together as its mean, so that a window without a loss, or without a round, still has
 * a probability above 0. Outside the measured windows it is the rate at the nearest of them.
 *
 * A round loses with the probability cwnd · rate, whatever the window was before. The rate is by packets, since not
 * every counted round filled its window: BBR's do not.
 *
 * @param counts in any order; at least one round in all
 */
export function lossByRound(counts: readonly WindowCount[]): LossByWindow {
  const seen = counts.filter(({ rounds }) => rounds > 0).sort((a, b) => a.cwnd - b.cwnd);
  if (seen.length === 0) throw new RangeError('expected at least one round');
  const smallest = seen[0]!.cwnd;
  const largest = seen.at(-1)!.cwnd;
  const overall = (sum(seen, 'lossEvents') + PRIOR_EVENTS) / (sum(seen, 'packets') + PRIOR_EVENTS);
  /** By whole windows, which are all that a sender has. */
  const rates = new Map<number, number>();

  const rateAt = (cwnd: number): number => {
    let events = PRIOR_EVENTS;
    let packets = events / overall;
    const reach = Math.exp(BANDWIDTH * REACH);
    const end = firstIndexWhere(seen, (count) => count.cwnd > cwnd * reach);
    for (let i = firstIndexWhere(seen, (count) => count.cwnd > cwnd / reach); i < end; i++) {
      const weight = Math.exp(-0.5 * (Math.log(seen[i]!.cwnd / cwnd) / BANDWIDTH) ** 2);
      events += weight * seen[i]!.lossEvents;
      packets += weight * seen[i]!.packets;
    }
    return Math.min(1, events / packets);
  };
  return {
    inRound(cwnd) {
      const near = Math.floor(Math.min(Math.max(cwnd, smallest), largest));
      let rate = rates.get(near);
      if (rate === undefined) {
        rate = rateAt(near);
        rates.set(near, rate);
      }
      return Math.min(1, cwnd * rate);
    },
    smallest,
    largest,
  };
}

function sum(counts: readonly WindowCount[], of: 'lossEvents' | 'packets'): number {
  return counts.reduce((total, count) => total + count[of], 0);
}

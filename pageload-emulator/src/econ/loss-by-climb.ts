import { InputError } from '../util/input-error.ts';
import { firstIndexWhere } from '../util/ordered.ts';
import type { LossByWindow } from './loss-by-window.ts';
import type { WindowLoss } from './pcwnd-files.ts';

/**
 * Loss by window from one of ECON's files, which count climbs: the growth of a window from one loss to the next.
 *
 * There cwnd · p is a hazard: of the climbs that reached a window, or passed it between two rounds, the share
 * that ended in it. It is of the windows in which one ended, where p changes. The rows after it repeat p up to
 * the next such window and were not observed: the climbs that reach the next one are those of the last less
 * the ended, and more where some begin higher. So a round that grows the window from a to b ends its climb with
 * the product-limit probability 1 − Π(1 − cwndᵢ · pᵢ) over the windows in (a, b] in which a climb ended
 * (Kaplan and Meier, 1958).
 *
 * A round that does not grow its window loses nothing: what a climb loses where it stays is part of the hazard of
 * getting by. A climb's first round has the one whole window that it begins in. Below the smallest window no climb
 * ended: 0. Beyond the largest none was seen: 1 (as Efron, 1967, ends a survival curve).
 *
 * @param rows in rising order of the window, at least one
 * @throws InputError for p = 0, which no row after a loss has: such a file counts rounds
 */
export function lossByClimb(rows: readonly WindowLoss[]): LossByWindow {
  if (rows.length === 0) throw new RangeError('expected at least one window');
  const unlike = rows.find(({ p }) => p === 0);
  if (unlike) {
    throw new InputError(`window ${unlike.cwnd}: expected a p above 0, repeated from the loss before, got 0`);
  }
  const ends = rows
    .filter(({ p }, index) => p !== rows[index - 1]?.p)
    .map(({ cwnd, p }) => ({ cwnd, hazard: Math.min(1, cwnd * p) }));
  const largest = rows.at(-1)!.cwnd;
  return {
    inRound(cwnd, before = cwnd - 1) {
      if (cwnd > largest) return 1;
      let survival = 1;
      for (let i = firstIndexWhere(ends, (end) => end.cwnd > before); ends[i] && ends[i]!.cwnd <= cwnd; i++) {
        survival *= 1 - ends[i]!.hazard;
      }
      return 1 - survival;
    },
    smallest: rows[0]!.cwnd,
    largest,
  };
}

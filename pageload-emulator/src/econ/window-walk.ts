import { cubicClimb } from './cubic-window.ts';
import { type Epoch, epochAfterLoss, epochAfterSlowStart } from './epoch.ts';
import { firstLost } from './first-lost.ts';
import type { FlowConditions } from './flow-conditions.ts';
import { lossInSlowStart } from './slow-start.ts';

/** What became of a burst of segments. */
export interface Carried {
  /** Number of the first lost segment in it, from 1; 0 when all arrived. */
  firstLost: number;
  /** How many were lost. */
  lost: number;
  /** Whether the sender cuts its window for it: it does once a round trip. */
  cuts: boolean;
}

/**
 * The window of one connection along one trajectory of ECON's survival products: where a draw says which share of the
 * trajectories have lost by then, the first segment is lost behind which so many have.
 *
 * Windows are segments. A round is a burst that fills the window; one that does not grows it in proportion, and not at
 * all where there was no more to send.
 */
export class WindowWalk {
  readonly #congestionControl: FlowConditions['congestionControl'];
  readonly #draw: () => number;
  #window: number;
  #ssthresh: number;
  #epoch: Epoch | null = null;
  /** Rounds and time in which the epoch's window was filled. */
  #rounds = 0;
  #sinceMs = 0;
  /** Share of the trajectories without a loss since the last, and the one at which this one has its next. */
  #survival = 1;
  #losesBelow: number;
  /** Whether a loss has happened that its sender has not learnt of: until then, no other one counts. */
  #unseen = false;
  /** Segments of the round behind a loss; null outside it. */
  #recovering: number | null = null;
  #before: number | undefined;

  constructor(
    congestionControl: FlowConditions['congestionControl'],
    from: { window: number; ssthresh?: number },
    draw: () => number,
  ) {
    this.#congestionControl = congestionControl;
    this.#window = from.window;
    this.#ssthresh = from.ssthresh ?? Number.POSITIVE_INFINITY;
    if (this.#window >= this.#ssthresh) this.#epoch = epochAfterSlowStart(this.#window);
    this.#draw = draw;
    this.#losesBelow = draw();
  }

  /** Whole segments that may be under way. */
  get segments(): number {
    return this.#recovering ?? Math.floor(this.#window);
  }

  /**
   * Sends a burst.
   *
   * @param fits how many of it the queue takes
   * @param conditions whose loss the burst meets
   */
  send(count: number, fits: number, { loss }: Pick<FlowConditions, 'loss'>): Carried {
    const dropped = fits < count ? Math.floor(fits) + 1 : 0;
    const lost = dropped === 0 ? 1 : count - dropped + 1;
    // The sender learns of a loss in the round behind it, which ECON takes to lose nothing: but for a full queue.
    if (this.#recovering !== null || this.#unseen) {
      return { firstLost: dropped, lost: dropped === 0 ? 0 : lost, cuts: false };
    }
    const round = firstLost({ loss }, Math.floor(this.#window), this.#before);
    const before = this.#survival;
    this.#survival *= round.survives(count);
    const place = this.#survival < this.#losesBelow ? round.placeWhere(this.#losesBelow / before) : 0;
    if (place === 0 && dropped === 0) return { firstLost: 0, lost: 0, cuts: false };
    this.#unseen = true;
    const first = place === 0 || (dropped > 0 && dropped < place) ? dropped : Math.min(count, place);
    return { firstLost: first, lost, cuts: true };
  }

  /**
   * The burst's acknowledgements.
   *
   * @param filled whether it was all that the window allowed, and there was more to send
   * @param roundMs a round's duration
   */
  acknowledge(count: number, carried: Carried, filled: boolean, roundMs: number): void {
    if (carried.cuts) {
      this.#lose(carried);
      return;
    }
    if (this.#recovering !== null) {
      this.#recovering = null;
      return;
    }
    if (!filled || this.#unseen || carried.firstLost > 0) return;
    this.#before = Math.floor(this.#window);
    if (!this.#epoch) {
      this.#window = Math.min(this.#window + count, Math.max(this.#ssthresh, this.#window));
      if (this.#window >= this.#ssthresh) this.#begin(epochAfterSlowStart(this.#window));
      return;
    }
    const part = Math.min(1, count / Math.floor(this.#window));
    this.#rounds += part;
    this.#sinceMs += part * roundMs;
    if (this.#congestionControl === 'reno') this.#window += part;
    else {
      const target = cubicClimb(this.#epoch, this.#rounds, this.#sinceMs, this.#window);
      this.#window += part * Math.max(0, target - this.#window);
    }
  }

  #lose({ firstLost, lost }: Carried): void {
    this.#unseen = false;
    const window = Math.floor(this.#window);
    if (this.#epoch) {
      this.#recovering = firstLost;
      this.#begin(epochAfterLoss(this.#congestionControl, window, this.#epoch.windowMax));
    } else {
      const { epoch, recovered } = lossInSlowStart(
        { congestionControl: this.#congestionControl },
        window,
        firstLost,
      );
      this.#recovering = Math.max(1, recovered - (lost - 1));
      this.#begin(epoch);
    }
    this.#survival = 1;
    this.#losesBelow = this.#draw();
    this.#before = undefined;
  }

  #begin(epoch: Epoch): void {
    this.#epoch = epoch;
    this.#window = epoch.start;
    this.#ssthresh = epoch.start;
    this.#rounds = 0;
    this.#sinceMs = 0;
  }
}

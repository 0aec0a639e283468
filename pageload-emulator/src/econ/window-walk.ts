import { cubicClimb } from './cubic-window.ts';
import { type Epoch, epochAfterLoss, epochAfterSlowStart } from './epoch.ts';
import { firstLost } from './first-lost.ts';
import type { FlowConditions } from './flow-conditions.ts';
import { lossInSlowStart } from './slow-start.ts';

/** How much of a burst arrived. */
interface BurstOutcome {
  /** Number of the first lost segment in it, from 1; 0 when all arrived. */
  firstLost: number;
  /** Segments lost. */
  lost: number;
  /** Whether the sender cuts its window because of it: it does so once a round trip. */
  cuts: boolean;
}

/**
 * The window of one connection along one trajectory of ECON's survival products. A draw gives the survival at which
 * the trajectory has its next loss: the first segment after which the survival is no larger is lost.
 *
 * Windows are segments. A burst that fills the window is a round; a smaller burst grows the window in proportion, and not at
 * all if there was no more to send.
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
  /** Survival since the last loss, and the survival at which this trajectory has its next loss. */
  #survival = 1;
  #losesBelow: number;
  /** Whether a loss has happened that the sender has not detected yet: until it has, no other loss counts. */
  #undetected = false;
  /** Segments of the round after a loss; null outside it. */
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

  /** Whole segments that may be in flight. */
  get segments(): number {
    return this.#recovering ?? Math.floor(this.#window);
  }

  /**
   * Sends a burst.
   *
   * @param fits how many of it the queue takes
   * @param conditions their loss is that of the burst
   */
  send(count: number, fits: number, { loss }: Pick<FlowConditions, 'loss'>): BurstOutcome {
    const dropped = fits < count ? Math.floor(fits) + 1 : 0;
    const lost = dropped === 0 ? 1 : count - dropped + 1;
    // The sender detects a loss in the round after it, in which by ECON only a full queue loses segments.
    if (this.#recovering !== null || this.#undetected) {
      return { firstLost: dropped, lost: dropped === 0 ? 0 : lost, cuts: false };
    }
    const round = firstLost({ loss }, Math.floor(this.#window), this.#before);
    const before = this.#survival;
    this.#survival *= round.survives(count);
    const place = this.#survival < this.#losesBelow ? round.placeWhere(this.#losesBelow / before) : 0;
    if (place === 0 && dropped === 0) return { firstLost: 0, lost: 0, cuts: false };
    this.#undetected = true;
    const first = place === 0 || (dropped > 0 && dropped < place) ? dropped : Math.min(count, place);
    return { firstLost: first, lost, cuts: true };
  }

  /**
   * Takes the acknowledgements of a burst.
   *
   * @param filled whether the burst filled the window, and there was more to send
   * @param roundMs a round's duration
   */
  acknowledge(count: number, outcome: BurstOutcome, filled: boolean, roundMs: number): void {
    if (outcome.cuts) {
      this.#lose(outcome);
      return;
    }
    if (this.#recovering !== null) {
      this.#recovering = null;
      return;
    }
    if (!filled || this.#undetected || outcome.firstLost > 0) return;
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

  #lose({ firstLost, lost }: BurstOutcome): void {
    this.#undetected = false;
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

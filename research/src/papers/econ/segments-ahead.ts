import {
  type ClimbRound,
  climb,
  type Epoch,
  epochAfterLoss,
  type FlowConditions,
  lossInSlowStart,
  slowStartRounds,
} from '@hopwise/pageload-emulator/econ';

/** A sender in the middle of a flow, as TCP_INFO shows it. Windows are segments. */
export interface SenderState {
  window: number;
  ssthresh: number;
  /** A loss is being repaired, and the window reduced to `ssthresh`. */
  reducing: boolean;
}

/**
 * Segments that a flow is expected to deliver within a time: ECON's throughput for the next seconds (section 5.2), for
 * which the paper takes one triple-duplicate period from scwnd. Here the sums are truncated where the time ends, over all the
 * periods that may begin before, and a window that has grown since its last loss goes on from its place in the climb. All
 * rounds last a round trip: what queues is part of the round trip and of the loss that were measured.
 *
 * @param conditions without a bottleneck
 * @param horizonMs fractions of a round count in proportion
 */
export function segmentsAhead(
  conditions: Pick<FlowConditions, 'congestionControl' | 'rttMs' | 'loss'>,
  state: SenderState,
  horizonMs: number,
): number {
  return new Ahead(conditions, horizonMs / conditions.rttMs).after(state);
}

/** What Cubic (RFC 9438 section 4.6) and Reno (RFC 5681 equation 4) keep of their window after a loss, a fraction. */
export const KEPT: Record<FlowConditions['congestionControl'], number> = { cubic: 0.7, reno: 0.5 };
/** RFC 5681 equation 4, RFC 9438 section 4.6. */
const SMALLEST_WINDOW = 2;

/** The epoch that a sender is in by its ssthresh, which is all that it shows of its last loss: no fast convergence. */
function epochBySsthresh(congestionControl: FlowConditions['congestionControl'], ssthresh: number): Epoch {
  const start = Math.max(SMALLEST_WINDOW, ssthresh);
  const lost = Math.round(start / KEPT[congestionControl]);
  return { start, windowMax: lost, prior: lost };
}

class Ahead {
  readonly #conditions: FlowConditions;
  /** Until the horizon. */
  readonly #rounds: number;
  /** By epoch: its climb, and what it delivers by the rounds that are left. */
  readonly #known = new Map<string, { climb: ClimbRound[]; byRoundsLeft: Map<number, number> }>();

  constructor(conditions: FlowConditions, rounds: number) {
    this.#conditions = conditions;
    this.#rounds = rounds;
  }

  after({ window, ssthresh, reducing }: SenderState): number {
    const left = this.#rounds;
    if (window < ssthresh && !reducing) return this.#slowStart(window, ssthresh, left);
    const epoch = epochBySsthresh(this.#conditions.congestionControl, ssthresh);
    return this.#climb(this.#climbFrom(epoch, reducing ? 0 : Math.floor(window)), epoch, left);
  }

  #slowStart(window: number, ssthresh: number, left: number): number {
    const { rounds, next } = slowStartRounds(this.#conditions, { window, ssthresh });
    return this.#sum(rounds, left, next, (round, place) =>
      lossInSlowStart(this.#conditions, round.window, place),
    );
  }

  #climb(rounds: readonly ClimbRound[], { windowMax }: Epoch, left: number): number {
    return this.#sum(rounds, left, null, ({ window }, place) => ({
      recovered: place,
      epoch: epochAfterLoss(this.#conditions.congestionControl, window, windowMax),
    }));
  }

  /**
   * @param next the epoch that follows the rounds without a loss
   * @param afterLoss what the round after a loss at a place delivers, and the epoch that then begins
   */
  #sum(
    rounds: readonly ClimbRound[],
    roundsLeft: number,
    next: Epoch | null,
    afterLoss: (round: ClimbRound, place: number) => { recovered: number; epoch: Epoch },
  ): number {
    let total = 0;
    let left = roundsLeft;
    let survived = 1;
    for (const round of rounds) {
      const { window, reached, firstLost } = round;
      if (left < 1) return total + reached * left * window;
      left -= 1;
      const { probability } = firstLost;
      survived = reached * (1 - probability);
      total += reached * (window - probability);
      if (probability === 0) continue;
      // The mean one: what a loss delivers and leaves grows evenly with its place.
      const place = (firstLost.expected - (1 - probability) * window) / probability;
      const { recovered, epoch } = afterLoss(round, place);
      const later = left > 1 ? this.#after(epoch, left - 1) : 0;
      total += reached * probability * (Math.min(1, left) * recovered + later);
    }
    return next === null ? total : total + survived * this.#after(next, left);
  }

  #after(epoch: Epoch, left: number): number {
    const key = `${epoch.start} ${epoch.windowMax}`;
    const known = this.#known.get(key) ?? { climb: this.#climbFrom(epoch, 0), byRoundsLeft: new Map() };
    this.#known.set(key, known);
    const segments = known.byRoundsLeft.get(left) ?? this.#climb(known.climb, epoch, left);
    known.byRoundsLeft.set(left, segments);
    return segments;
  }

  #climbFrom(epoch: Epoch, from: number): ClimbRound[] {
    return climb(this.#conditions, epoch, Number.POSITIVE_INFINITY, {
      from,
      rounds: Math.ceil(this.#rounds),
    });
  }
}

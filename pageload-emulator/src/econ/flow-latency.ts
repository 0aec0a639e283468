import { climb, type Round } from './climb.ts';
import type { Epoch } from './epoch.ts';
import type { FirstLost } from './first-lost.ts';
import { type FlowConditions, transmissionMs } from './flow-conditions.ts';
import { lossInSlowStart, type SlowStartFrom, slowStartRounds } from './slow-start.ts';
import { epochAfter, steadyThroughput } from './steady-throughput.ts';
import { WindowGrid } from './window-grid.ts';

/** Numbers of segments left up to here are all in the table. */
const EXACT = 48;
/** Beyond, each column has so many times more than the one before. */
const STEP = 1.04;
/** What is left of a flow beyond so many segments goes at the throughput of a long one. */
const LONG = 6_000;
/** The loss of a round is taken at so many places in it, equally likely. */
const PLACES = 4;

/** A round of a climb, with what the rounds before it carried and where its loss leads. */
interface Step {
  round: Round;
  sentBefore: number;
  beforeMs: number;
  /** Places of the first lost segment, equally likely; none where the round cannot lose. */
  places: number[];
  /** Rows of the table for the epoch behind the loss: `row` and the second one after it, that by `share`. */
  row: number;
  share: number;
}

/**
 * Latency of finite flows under given conditions, in place of ECON's equation 5, L = x·RTT/(B·MSS), which is not a
 * time and whose long-run B a short flow never reaches. The trajectory is walked instead: slow start round by
 * round, then from loss to loss, with each sum truncated where the flow ends,
 *
 *     L(r | epoch) = Σ_j S_{j−1} · (ends in round j, or loses at its kth segment: … + L(r − N_jk | epoch behind that loss))
 *
 * over a table of the segments r that are left and of the epochs that a loss can leave. It grows with the
 * longest flow asked for up to 6,000 segments; the rest of a longer flow goes at the throughput of a long one.
 */
export class FlowLatency {
  readonly #conditions: FlowConditions;
  /** Steps by row of the table; two rows for each window of the grid, the second for a loss below the last plateau. */
  #grid: { windows: WindowGrid; steps: Step[][] } | null = null;
  /** Segments left, by column of the table. */
  readonly #left: number[] = [0];
  /** Milliseconds from the arrival of the first round's first segment. */
  readonly #table: Float64Array[] = [];
  #longSegmentsPerMs: number | null = null;

  constructor(conditions: FlowConditions) {
    this.#conditions = conditions;
  }

  /**
   * Expected time from the request until the last of `segments` has arrived, over an established connection.
   *
   * @param from window of the connection; in slow start when it is below ssthresh
   * @returns milliseconds
   * @throws RangeError for a flow without a segment
   */
  latencyMs(segments: number, from: SlowStartFrom): number {
    if (!(segments >= 1)) throw new RangeError(`expected at least one segment, got ${segments}`);
    const conditions = this.#conditions;
    const { rounds, survived, next } = slowStartRounds(conditions, from, segments);
    let total = conditions.rttMs;
    let sent = 0;
    let ms = 0;
    for (const round of rounds) {
      const left = segments - sent;
      if (left <= round.window) return total + round.reached * lastRoundMs(conditions, round, left, ms);
      const places = placesOf(round.firstLost);
      const weight = (round.reached * round.firstLost.probability) / places.length;
      for (const place of places) {
        const { delivered, recovered, epoch } = lossInSlowStart(conditions, round.window, place);
        const missing = left - (delivered - recovered);
        total +=
          weight *
          (ms +
            round.durationMs +
            (missing <= recovered
              ? transmissionMs(conditions, missing)
              : round.durationMs + this.#behindLoss(epoch, missing - recovered)));
      }
      sent += round.window;
      ms += round.durationMs;
    }
    if (next && survived > 0) total += survived * (ms + this.#behindSlowStart(next, segments - sent));
    return total;
  }

  #behindLoss({ prior, windowMax }: Epoch, left: number): number {
    const { windows } = this.#rows();
    const { index, share } = windows.locate(prior);
    this.#extend(left);
    return this.#at(left, 2 * index + (windowMax < prior ? 1 : 0), share);
  }

  #behindSlowStart(epoch: Epoch, left: number): number {
    const rounds = climb(this.#conditions, epoch, left);
    const loses = rounds.some(({ firstLost }) => firstLost.probability > 0);
    const steps = stepsOf(rounds, epoch, loses ? this.#rows().windows : null);
    if (!loses) return this.#walk(steps, left);
    this.#extend(left);
    return left <= LONG
      ? this.#walk(steps, left)
      : this.#walk(steps, LONG) + (left - LONG) / this.#longThroughput();
  }

  #rows(): { windows: WindowGrid; steps: Step[][] } {
    if (this.#grid) return this.#grid;
    const conditions = this.#conditions;
    // A flow in the table sends each window whole, and slow start's may double before its loss is seen.
    const windows = new WindowGrid(2 * LONG);
    const steps = windows.windows.flatMap((window) =>
      [false, true].map((below) => {
        const epoch = epochAfter(conditions, window, below);
        return stepsOf(climb(conditions, epoch, LONG), epoch, windows);
      }),
    );
    this.#table.push(new Float64Array(steps.length));
    this.#grid = { windows, steps };
    return this.#grid;
  }

  /** Adds columns up to the first with at least `left` segments. */
  #extend(left: number): void {
    const { steps } = this.#rows();
    for (let last = this.#left.at(-1)!; last < Math.min(left, LONG); last = this.#left.at(-1)!) {
      const next = last < EXACT ? last + 1 : Math.min(LONG, Math.ceil(last * STEP));
      const column = Float64Array.from(steps, (row) => this.#walk(row, next));
      this.#left.push(next);
      this.#table.push(column);
    }
  }

  #walk(steps: readonly Step[], left: number): number {
    const conditions = this.#conditions;
    let total = 0;
    for (const { round, sentBefore, beforeMs, places, row, share } of steps) {
      const missing = left - sentBefore;
      if (missing <= round.window) {
        return total + round.reached * lastRoundMs(conditions, round, missing, beforeMs);
      }
      const weight = (round.reached * round.firstLost.probability) / places.length;
      const unseen = missing - (round.window - 1);
      for (const place of places) {
        total +=
          weight *
          (beforeMs +
            round.durationMs +
            (unseen <= place
              ? transmissionMs(conditions, unseen)
              : round.durationMs + this.#at(unseen - place, row, share)));
      }
    }
    return total;
  }

  /** From the table; between its columns, and behind the last one, by a straight line. */
  #at(left: number, row: number, share: number): number {
    const columns = this.#left;
    const last = columns.length - 1;
    const at = (column: number) => {
      const values = this.#table[column]!;
      return values[row]! + share * (values[row + 2]! - values[row]!);
    };
    if (left >= columns[last]!) {
      const beyond = left - columns[last]!;
      if (beyond === 0) return at(last);
      if (columns[last]! >= LONG) return at(last) + beyond / this.#longThroughput();
      return at(last) + (beyond * (at(last) - at(last - 1))) / (columns[last]! - columns[last - 1]!);
    }
    const column = this.#columnOf(left);
    const part = (left - columns[column]!) / (columns[column + 1]! - columns[column]!);
    return part === 0 ? at(column) : at(column) + part * (at(column + 1) - at(column));
  }

  /** The last column with at most `left` segments. */
  #columnOf(left: number): number {
    if (left <= EXACT) return Math.floor(left);
    let low = EXACT;
    let high = this.#left.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#left[middle]! <= left) low = middle;
      else high = middle;
    }
    return low;
  }

  #longThroughput(): number {
    this.#longSegmentsPerMs ??= steadyThroughput(this.#conditions).segmentsPerMs;
    return this.#longSegmentsPerMs;
  }
}

function stepsOf(rounds: readonly Round[], epoch: Epoch, grid: WindowGrid | null): Step[] {
  let sentBefore = 0;
  let beforeMs = 0;
  return rounds.map((round) => {
    const { index, share } = grid?.locate(round.window) ?? { index: 0, share: 0 };
    const below = round.window < epoch.windowMax ? 1 : 0;
    const step = {
      round,
      sentBefore,
      beforeMs,
      places: placesOf(round.firstLost),
      row: 2 * index + below,
      share,
    };
    sentBefore += round.window;
    beforeMs += round.durationMs;
    return step;
  });
}

/** Places that stand for all of a round, each for as many of the losses. */
function placesOf({ probability, placeAt }: FirstLost): number[] {
  if (probability === 0) return [];
  return Array.from({ length: PLACES }, (_, index) => placeAt((index + 0.5) / PLACES));
}

/**
 * The round in which a flow ends: its last segment arrives in it, or the one that it lost does so in the round
 * behind it.
 */
function lastRoundMs(conditions: FlowConditions, round: Round, left: number, beforeMs: number): number {
  const survives = round.firstLost.survives(left);
  return (
    beforeMs +
    survives * transmissionMs(conditions, left) +
    (1 - survives) * (round.durationMs + transmissionMs(conditions, 1))
  );
}

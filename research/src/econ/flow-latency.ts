import {
  type ClimbRound,
  climb,
  type Epoch,
  type FirstLost,
  type FlowConditions,
  lossInSlowStart,
  type SlowStartFrom,
  slowStartRounds,
  transmissionMs,
} from '@hopwise/pageload-emulator/econ';
import { firstIndexWhere } from '../../../pageload-emulator/src/util/ordered.ts';
import { epochAfter, steadyThroughput } from './steady-throughput.ts';
import { WindowGrid } from './window-grid.ts';

/** Numbers of segments left up to here are all in the table. */
const EXACT = 48;
/** The factor by which each further column has more than the one before. */
const STEP = 1.04;
/** The segments beyond which the rest of a flow goes at the throughput of a long one. */
const LONG = 6_000;
/** How many places in a round its loss is taken at, equally likely; slow start's, of which there are few, at more. */
const PLACES = 4;
const SLOW_START_PLACES = 32;
/** Probability of a trajectory below which it no longer counts. */
const NEGLIGIBLE = 1e-7;

/** A round of a climb, with what the rounds before it carried and where its loss leads. */
interface Step {
  round: ClimbRound;
  sentBefore: number;
  beforeMs: number;
  /** Places of the first lost segment, equally likely; none where the round cannot lose. */
  places: number[];
  /** Rows of the table for the epoch after the loss: `row` and the second one after it, that by `share`. */
  row: number;
  share: number;
}

/** A state after a loss: its steps, and the milliseconds for each column's segments as far as they have been computed. */
interface Row {
  steps: Step[];
  ms: Float64Array;
}

/** Segments left, by column of the table. */
const COLUMNS: readonly number[] = columns();

/**
 * Latency of finite flows under given conditions, in place of ECON's equation 5, L = x·RTT/(B·MSS), which is not a
 * time and whose long-run B a short flow never reaches. The trajectory is walked instead: slow start round by
 * round, then from loss to loss, with each sum truncated where the flow ends,
 *
 *     L(r | epoch) = Σ_j S_{j−1} · (ends in round j, or loses at its kth segment: … + L(r − N_jk | epoch after that loss))
 *
 * over a table of the segments r that are left, up to 6,000, and of the epochs that a loss can leave. It is filled as it
 * is asked for, and serves all flows under these conditions; what a flow has beyond goes at the throughput of a
 * long one.
 */
export class FlowLatency {
  readonly #conditions: FlowConditions;
  // A flow in the table sends each window whole, and slow start's may double before its loss is seen.
  readonly #windows = new WindowGrid(2 * LONG);
  /** Two for each window of the grid, the second for a loss below the last plateau. */
  readonly #rows: (Row | undefined)[] = [];
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
      const places = placesOf(round.firstLost, SLOW_START_PLACES);
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
              : round.durationMs + this.#afterLoss(epoch, missing - recovered)));
      }
      sent += round.window;
      ms += round.durationMs;
    }
    if (next && survived > 0) total += survived * (ms + this.#afterSlowStart(next, segments - sent));
    return total;
  }

  #afterLoss({ prior, windowMax }: Epoch, left: number): number {
    const { index, share } = this.#windows.locate(prior);
    return this.#at(left, 2 * index + (windowMax < prior ? 1 : 0), share, COLUMNS.length);
  }

  #afterSlowStart(epoch: Epoch, left: number): number {
    const rounds = climb(this.#conditions, epoch, left);
    const loses = rounds.some(({ firstLost }) => firstLost.probability > 0);
    const steps = stepsOf(rounds, epoch, this.#windows, this.#conditions.congestionControl === 'cubic');
    return !loses || left <= LONG
      ? this.#walk(steps, left, COLUMNS.length)
      : this.#walk(steps, LONG, COLUMNS.length) + (left - LONG) / this.#longThroughput();
  }

  /** @param known columns of the table that may be looked at: those of fewer segments */
  #walk(steps: readonly Step[], left: number, known: number): number {
    const conditions = this.#conditions;
    let total = 0;
    for (const { round, sentBefore, beforeMs, places, row, share } of steps) {
      if (round.reached < NEGLIGIBLE) return total;
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
              : round.durationMs + this.#at(unseen - place, row, share, known)));
      }
    }
    return total;
  }

  /** Reads the table; between its columns, and beyond the last known one, by linear interpolation. */
  #at(left: number, row: number, share: number, known: number): number {
    const at = (column: number) => {
      const low = this.#cell(row, column);
      return share === 0 ? low : low + share * (this.#cell(row + 2, column) - low);
    };
    const last = known - 1;
    if (left > COLUMNS[last]!) {
      const beyond = left - COLUMNS[last]!;
      if (known === COLUMNS.length) return at(last) + beyond / this.#longThroughput();
      return at(last) + (beyond * (at(last) - at(last - 1))) / (COLUMNS[last]! - COLUMNS[last - 1]!);
    }
    const column = columnOf(left);
    const beyond = left - COLUMNS[column]!;
    if (beyond === 0) return at(column);
    return at(column) + (beyond * (at(column + 1) - at(column))) / (COLUMNS[column + 1]! - COLUMNS[column]!);
  }

  #cell(index: number, column: number): number {
    if (column === 0) return 0;
    const row = this.#row(index);
    let ms = row.ms[column]!;
    if (Number.isNaN(ms)) {
      ms = this.#walk(row.steps, COLUMNS[column]!, column);
      row.ms[column] = ms;
    }
    return ms;
  }

  #row(index: number): Row {
    let row = this.#rows[index];
    if (!row) {
      const epoch = epochAfter(this.#conditions, this.#windows.windows[index >> 1]!, index % 2 === 1);
      const steps = stepsOf(
        climb(this.#conditions, epoch, LONG),
        epoch,
        this.#windows,
        this.#conditions.congestionControl === 'cubic',
      );
      row = { steps, ms: new Float64Array(COLUMNS.length).fill(Number.NaN) };
      this.#rows[index] = row;
    }
    return row;
  }

  #longThroughput(): number {
    this.#longSegmentsPerMs ??= steadyThroughput(this.#conditions).segmentsPerMs;
    return this.#longSegmentsPerMs;
  }
}

function stepsOf(rounds: readonly ClimbRound[], epoch: Epoch, grid: WindowGrid, cubic: boolean): Step[] {
  let sentBefore = 0;
  let beforeMs = 0;
  return rounds.map((round) => {
    const { index, share } = grid.locate(round.window);
    const below = cubic && round.window < epoch.windowMax ? 1 : 0;
    const step = {
      round,
      sentBefore,
      beforeMs,
      places: placesOf(round.firstLost, PLACES),
      row: 2 * index + below,
      share,
    };
    sentBefore += round.window;
    beforeMs += round.durationMs;
    return step;
  });
}

function columns(): number[] {
  const segments = [0];
  while (segments.at(-1)! < LONG) {
    const last = segments.at(-1)!;
    segments.push(last < EXACT ? last + 1 : Math.min(LONG, Math.ceil(last * STEP)));
  }
  return segments;
}

/** The last column with at most `left` segments, of those but the last. */
function columnOf(left: number): number {
  if (left < EXACT) return Math.floor(left);
  return (
    Math.min(
      COLUMNS.length - 1,
      firstIndexWhere(COLUMNS, (segments) => segments > left),
    ) - 1
  );
}

/** Places that stand for all of a round, each for as many of the losses. */
function placesOf({ probability, placeWhere }: FirstLost, places: number): number[] {
  if (probability === 0) return [];
  return Array.from({ length: places }, (_, index) => placeWhere(1 - (probability * (index + 0.5)) / places));
}

/**
 * The round in which a flow ends: its last segment arrives in it, or the one that it lost does so in the round
 * after it.
 */
function lastRoundMs(conditions: FlowConditions, round: ClimbRound, left: number, beforeMs: number): number {
  const survives = round.firstLost.survives(left);
  return (
    beforeMs +
    survives * transmissionMs(conditions, left) +
    (1 - survives) * (round.durationMs + transmissionMs(conditions, 1))
  );
}

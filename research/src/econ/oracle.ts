/**
 * An oracle for ECON's sums: one sender, simulated round by round with its losses drawn at segments. It shares no
 * code with the sums; what both mean by a round, a loss and a recovery is in `pageload-emulator/src/econ/README.md`.
 */

export interface OracleConditions {
  cubic: boolean;
  rttMs: number;
  /** Loss at each segment of a window, independent of the others. */
  segmentLoss?: (cwnd: number) => number;
  /** Or: one loss event in a round, at any of its segments. */
  roundLoss?: (cwnd: number) => number;
  segmentsPerMs?: number;
  roomSegments?: number;
}

export interface Mean {
  value: number;
  standardError: number;
}

/** xorshift128 (Marsaglia 2003) behind a splitmix of the seed: not the product's generator. */
export function oracleRandom(seed: number): () => number {
  const state = new Uint32Array(4);
  let mix = seed >>> 0;
  for (let i = 0; i < 4; i++) {
    mix = (mix + 0x6d2b79f5) >>> 0;
    let z = Math.imul(mix ^ (mix >>> 15), mix | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    state[i] = (z ^ (z >>> 14)) >>> 0;
  }
  return () => {
    let t = state[3]!;
    const s = state[0]!;
    state[3] = state[2]!;
    state[2] = state[1]!;
    state[1] = s;
    t ^= t << 11;
    t ^= t >>> 8;
    state[0] = (t ^ s ^ (s >>> 19)) >>> 0;
    return (state[0]! + 0.5) / 4294967296;
  };
}

/** The first lost of `count` segments under a window of `cwnd`, from 1; 0 when all pass. */
export function drawLoss(
  conditions: OracleConditions,
  random: () => number,
  cwnd: number,
  count: number,
  held = conditions.roomSegments ?? Number.POSITIVE_INFINITY,
): number {
  const { segmentLoss, roundLoss, roomSegments } = conditions;
  let first = Number.POSITIVE_INFINITY;
  if (segmentLoss) {
    const p = segmentLoss(cwnd);
    // Segments until one is lost: a geometric variate; where it is likely, segment by segment.
    if (p > 0.05) {
      for (let at = 1; at <= count && first > count; at++) if (random() < p) first = at;
    } else if (p > 0) first = 1 + Math.floor(Math.log(random()) / Math.log(1 - p));
  } else if (roundLoss && random() < roundLoss(cwnd)) {
    first = 1 + Math.floor(random() * cwnd);
  }
  if (roomSegments !== undefined && cwnd > roomSegments) first = Math.min(first, held + 1);
  return first <= count ? first : 0;
}

/** A window in congestion avoidance that is given rounds and losses, one after the other. */
export class OracleWindow {
  cwnd: number;
  readonly #cubic: boolean;
  /** W_max of RFC 9438. */
  #max: number;
  #cwndPrior: number;
  #epochStart: number;
  #est: number;
  #clock = 0;

  constructor(cubic: boolean, cwnd: number, max: number, prior: number) {
    this.#cubic = cubic;
    this.cwnd = cwnd;
    this.#max = max;
    this.#cwndPrior = prior;
    this.#epochStart = cwnd;
    this.#est = cwnd;
  }

  get max(): number {
    return this.#max;
  }

  round(ms: number): void {
    if (!this.#cubic) {
      this.cwnd += 1;
      return;
    }
    this.#clock += ms / 1000;
    this.#est += this.#est < this.#cwndPrior ? 9 / 17 : 1;
    const top = this.#max > this.#epochStart ? this.#max : this.#epochStart;
    const k = ((top - this.#epochStart) / 0.4) ** (1 / 3);
    const distance = this.#clock - k;
    let next = top + 0.4 * distance * distance * distance;
    if (next > this.cwnd * 1.5) next = this.cwnd * 1.5;
    if (next < this.#est) next = this.#est;
    this.cwnd = next;
  }

  lose(at: number): void {
    this.#max = this.#cubic && at < this.#max ? at * 0.85 : at;
    this.#cwndPrior = at;
    const kept = Math.floor(at * (this.#cubic ? 0.7 : 0.5));
    this.cwnd = kept < 2 ? 2 : kept;
    this.#epochStart = this.cwnd;
    this.#est = this.cwnd;
    this.#clock = 0;
  }
}

const roundTime = ({ rttMs, segmentsPerMs }: OracleConditions, cwnd: number) =>
  segmentsPerMs && cwnd / segmentsPerMs > rttMs ? cwnd / segmentsPerMs : rttMs;

interface OraclePeriod {
  firstLoss: number;
  rounds: number;
  windowAtLoss: number;
  segments: number;
  durationMs: number;
}

function runPeriod(conditions: OracleConditions, random: () => number, window: OracleWindow): OraclePeriod {
  let sent = 0;
  let durationMs = 0;
  for (let rounds = 1; ; rounds++) {
    const cwnd = Math.floor(window.cwnd);
    const ms = roundTime(conditions, cwnd);
    durationMs += ms;
    const lost = drawLoss(conditions, random, cwnd, cwnd);
    if (lost > 0) {
      // The rest of the window; then the lost one and one more for each acknowledgement.
      const segments = sent + (cwnd - 1) + 1 + (lost - 1);
      window.lose(cwnd);
      return { firstLoss: sent + lost, rounds, windowAtLoss: cwnd, segments, durationMs: durationMs + ms };
    }
    sent += cwnd;
    window.round(ms);
  }
}

/** Periods that all start in the same state: scwnd, W_max and the window at the loss before. */
export function simulatePeriods(
  conditions: OracleConditions,
  start: { start: number; windowMax: number; prior: number },
  samples: number,
  seed: number,
): Record<keyof OraclePeriod | 'segmentsPerMs', Mean> {
  const random = oracleRandom(seed);
  const periods = Array.from({ length: samples }, () =>
    runPeriod(
      conditions,
      random,
      new OracleWindow(conditions.cubic, start.start, start.windowMax, start.prior),
    ),
  );
  const of = (key: keyof OraclePeriod) => meanOf(periods.map((period) => period[key]));
  return {
    firstLoss: of('firstLoss'),
    rounds: of('rounds'),
    windowAtLoss: of('windowAtLoss'),
    segments: of('segments'),
    durationMs: of('durationMs'),
    segmentsPerMs: ratioOf(periods),
  };
}

/** Periods that follow one another; the error is that of means over batches of them. */
export function simulateLongFlow(conditions: OracleConditions, periods: number, seed: number): Mean {
  const random = oracleRandom(seed);
  const window = new OracleWindow(conditions.cubic, 10, 0, 10);
  for (let skipped = 0; skipped < 30; skipped++) runPeriod(conditions, random, window);
  const batches = 40;
  return ratioOf(
    Array.from({ length: batches }, () => {
      let segments = 0;
      let durationMs = 0;
      for (let period = 0; period < periods / batches; period++) {
        const one = runPeriod(conditions, random, window);
        segments += one.segments;
        durationMs += one.durationMs;
      }
      return { segments, durationMs };
    }),
  );
}

/** Slow start of a flow with endless data, up to its loss or to ssthresh. */
export function simulateSlowStarts(
  conditions: OracleConditions,
  from: { window: number; ssthresh: number },
  samples: number,
  seed: number,
): Record<'segments' | 'durationMs' | 'segmentsPerMs' | 'losses' | 'windowAtExit', Mean> {
  const random = oracleRandom(seed);
  const runs = Array.from({ length: samples }, () => {
    const run = runSlowStart(conditions, random, from, Number.POSITIVE_INFINITY);
    return {
      segments: run.delivered,
      durationMs: run.ms,
      losses: run.lost ? 1 : 0,
      windowAtExit: run.window,
    };
  });
  return {
    segments: meanOf(runs.map(({ segments }) => segments)),
    durationMs: meanOf(runs.map(({ durationMs }) => durationMs)),
    segmentsPerMs: ratioOf(runs),
    losses: meanOf(runs.map(({ losses }) => losses)),
    windowAtExit: meanOf(runs.map(({ windowAtExit }) => windowAtExit)),
  };
}

interface SlowStartRun {
  delivered: number;
  ms: number;
  lost: boolean;
  /** Before the cut. */
  window: number;
  /** When the flow's last segment has come, behind the first round trip; undefined while some are left. */
  endMs?: number;
}

function runSlowStart(
  conditions: OracleConditions,
  random: () => number,
  { window, ssthresh }: { window: number; ssthresh: number },
  size: number,
): SlowStartRun {
  const perSegmentMs = conditions.segmentsPerMs ? 1 / conditions.segmentsPerMs : 0;
  const room = conditions.roomSegments ?? Number.POSITIVE_INFINITY;
  let cwnd = window;
  let delivered = 0;
  let ms = 0;
  let held = room;
  while (cwnd < ssthresh) {
    const left = size - delivered;
    const ends = left <= cwnd;
    const count = ends ? left : cwnd;
    const lost = drawLoss(conditions, random, cwnd, count, held);
    const roundMs = roundTime(conditions, cwnd);
    if (ends) {
      const endMs = lost ? ms + roundMs + perSegmentMs : ms + left * perSegmentMs;
      return { delivered: size, ms: endMs, lost: lost > 0, window: cwnd, endMs };
    }
    if (lost > 0) {
      const grown = cwnd + (lost - 1);
      // Beyond its room the queue drops what the window has grown by; all but the first of it is sent later.
      const dropped = cwnd > room ? Math.max(1, grown - room) : 1;
      const recovered = Math.max(1, 2 * (lost - 1) + 1 - (dropped - 1));
      const missing = left - (cwnd - 1);
      const run = {
        delivered: delivered + cwnd - 1 + recovered,
        ms: ms + 2 * roundMs,
        lost: true,
        window: grown,
      };
      return missing <= recovered ? { ...run, endMs: ms + roundMs + missing * perSegmentMs } : run;
    }
    delivered += cwnd;
    ms += roundMs;
    held = Math.max(0, 2 * (room - cwnd));
    cwnd = Math.min(2 * cwnd, ssthresh);
  }
  return { delivered, ms, lost: false, window: cwnd };
}

/** Latency of flows of `size` segments, from the request to the arrival of the last one. */
export function simulateFlows(
  conditions: OracleConditions,
  size: number,
  from: { window: number; ssthresh: number },
  samples: number,
  seed: number,
): Mean {
  const random = oracleRandom(seed);
  return meanOf(
    Array.from({ length: samples }, () => conditions.rttMs + runFlow(conditions, random, size, from)),
  );
}

function runFlow(
  conditions: OracleConditions,
  random: () => number,
  size: number,
  from: { window: number; ssthresh: number },
): number {
  const perSegmentMs = conditions.segmentsPerMs ? 1 / conditions.segmentsPerMs : 0;
  const begun = runSlowStart(conditions, random, from, size);
  if (begun.endMs !== undefined) return begun.endMs;
  let left = size - begun.delivered;
  let ms = begun.ms;
  const window = new OracleWindow(conditions.cubic, begun.window, begun.window, begun.window);
  if (begun.lost) {
    window.lose(begun.window);
  }
  for (;;) {
    const cwnd = Math.floor(window.cwnd);
    const roundMs = roundTime(conditions, cwnd);
    const count = Math.min(cwnd, left);
    const lost = drawLoss(conditions, random, cwnd, count);
    if (left <= cwnd) return ms + (lost ? roundMs + perSegmentMs : left * perSegmentMs);
    if (lost > 0) {
      left -= cwnd - 1;
      if (left <= lost) return ms + roundMs + left * perSegmentMs;
      left -= lost;
      ms += 2 * roundMs;
      window.lose(cwnd);
    } else {
      left -= cwnd;
      ms += roundMs;
      window.round(roundMs);
    }
  }
}

export function meanOf(values: readonly number[]): Mean {
  const value = values.reduce((sum, one) => sum + one, 0) / values.length;
  const squares = values.reduce((sum, one) => sum + (one - value) ** 2, 0);
  return { value, standardError: Math.sqrt(squares / (values.length - 1) / values.length) };
}

/** Segments over time; its error by the residuals of the ratio (Cochran, Sampling Techniques, 1977, section 6.3). */
function ratioOf(runs: readonly { segments: number; durationMs: number }[]): Mean {
  const segments = runs.reduce((sum, run) => sum + run.segments, 0);
  const durationMs = runs.reduce((sum, run) => sum + run.durationMs, 0);
  const value = segments / durationMs;
  const squares = runs.reduce((sum, run) => sum + (run.segments - value * run.durationMs) ** 2, 0);
  const mean = durationMs / runs.length;
  return { value, standardError: Math.sqrt(squares / (runs.length - 1) / runs.length) / mean };
}

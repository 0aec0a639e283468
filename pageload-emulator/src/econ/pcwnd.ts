/**
 * Loss by congestion window: p(cwnd, npc) of ECON (Cao et al., IMC 2019), measured at the sender of bulk
 * transfers over npc parallel connections.
 *
 * In ECON's files p is a probability per packet. Their cwnd · p are fractions of small numbers whose
 * denominators fall from one row to the next by the losses of the last: the share of the climbs which
 * reached a window that lost in it, over the window's packets. So a round with a window of cwnd segments
 * loses with probability cwnd · p. A p is carried on to the windows behind it until one that lost too.
 */
import * as z from 'zod/mini';
import { InputError, inputErrorFrom, shown } from '../recording/input-error.ts';

/** A row of a file; `p` is the probability that a packet of a window of `cwnd` segments begins a loss event. */
export interface WindowLoss {
  cwnd: number;
  p: number;
}

/** What was counted for a window of `cwnd` segments: rounds, and those of them that lost. */
export interface WindowCount {
  cwnd: number;
  rounds: number;
  lossEvents: number;
}

/** Loss as a function of the congestion window, for any window of at least one segment. */
export interface LossByWindow {
  /** Probability that a packet of a window of `cwnd` segments begins a loss event. */
  perPacket(cwnd: number): number;
  /** Probability that a round with that window has a loss event: `cwnd · perPacket(cwnd)`, at most 1. */
  perRound(cwnd: number): number;
  /** Smallest and largest window that was sampled. */
  readonly smallest: number;
  readonly largest: number;
}

const HEADER = 'cwnd,p';
/** Above any window that a 32-bit sequence space allows. */
const LARGEST_WINDOW = 2 ** 31;

/**
 * Reads a file with the columns `cwnd,p`, windows in rising order.
 *
 * @throws InputError naming the line and what was expected there
 */
export function parsePcwnd(text: string): WindowLoss[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  if (lines[0]?.trim() !== HEADER) throw unexpected(1, `the header ${HEADER}`, lines[0]);
  const rows: WindowLoss[] = [];
  for (const [index, line] of lines.entries()) {
    if (index === 0) continue;
    const cells = line.split(',');
    const [cwnd, p] = cells.map(decimal);
    if (cells.length !== 2) throw unexpected(index + 1, 'two columns, cwnd and p', line);
    if (!(cwnd! >= 1 && cwnd! < LARGEST_WINDOW)) {
      throw unexpected(index + 1, 'a window of at least 1 segment', cells[0]);
    }
    if (!(p! >= 0 && p! <= 1)) throw unexpected(index + 1, 'a probability from 0 to 1', cells[1]);
    const last = rows.at(-1)?.cwnd ?? 0;
    if (cwnd! <= last)
      throw unexpected(index + 1, `a window above ${last}, that of the line before`, cells[0]);
    rows.push({ cwnd: cwnd!, p: p! });
  }
  if (rows.length === 0) throw unexpected(2, 'at least one window', undefined);
  return rows;
}

/** NaN for anything but a decimal number. */
function decimal(cell: string): number {
  return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(cell) ? Number(cell) : Number.NaN;
}

function unexpected(line: number, expected: string, got: string | undefined): InputError {
  return new InputError(`line ${line}: expected ${expected}, got ${shown(got)}`);
}

const whole = (expected: string) =>
  z.number(expected).check(z.refine((value) => Number.isInteger(value) && value >= 0, expected));

const countsSchema = z.object({
  format: z.literal('hopwise-pcwnd', 'hopwise-pcwnd'),
  version: z.literal(1, 'version 1'),
  windows: z.array(
    z
      .object(
        {
          cwnd: whole('a number of segments').check(z.gte(1, 'at least 1 segment')),
          rounds: whole('a number of rounds'),
          lossEvents: whole('a number of loss events'),
        },
        'an object',
      )
      .check(z.refine(({ rounds, lossEvents }) => lossEvents <= rounds, 'no more loss events than rounds')),
    'an array of windows',
  ),
});

/**
 * Reads the counts per window from the JSON file that the lab writes beside `cwnd,p`.
 *
 * @throws InputError naming the entry and what was expected there
 */
export function parsePcwndCounts(text: string): WindowCount[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new InputError('top level: expected JSON');
  }
  const parsed = countsSchema.safeParse(content);
  if (!parsed.success) throw inputErrorFrom(parsed.error.issues, content);
  return parsed.data.windows.map(({ cwnd, rounds, lossEvents }) => ({ cwnd, rounds, lossEvents }));
}

/**
 * Loss by window as a file's rows give it: between two windows the p of the smaller one, as ECON carries it
 * on, above the largest its own. Below the smallest, where no loss was seen, 0.
 *
 * @param rows in rising order of the window, at least one
 */
export function lossByWindow(rows: readonly WindowLoss[]): LossByWindow {
  if (rows.length === 0) throw new RangeError('expected at least one window');
  const windows = rows.map(({ cwnd }) => cwnd);
  return {
    perPacket: (cwnd) => rows[firstAbove(windows, cwnd) - 1]?.p ?? 0,
    perRound(cwnd) {
      return Math.min(1, cwnd * this.perPacket(cwnd));
    },
    smallest: windows[0]!,
    largest: windows.at(-1)!,
  };
}

/** Standard deviation of the smoothing, in the window's natural logarithm: 5% of the window. */
const BANDWIDTH = 0.05;
/** Beyond so many standard deviations a window counts for nothing. */
const REACH = 4;
/** Loss events that the prior is worth: Jeffreys' for a Poisson rate. */
const PRIOR_EVENTS = 0.5;

/**
 * Loss by window as a smoothed event rate: loss events over packets of the windows near by, weighted by a
 * normal kernel in ln(cwnd). The prior is a gamma distribution worth half an event, with the rate of
 * all windows together as its mean, so that a window without a loss, or without a round, still has a
 * probability above 0. Outside the sampled windows the rate at the nearest of them.
 *
 * @param counts in any order; at least one round in all
 */
export function smoothedLossByWindow(counts: readonly WindowCount[]): LossByWindow {
  const seen = counts.filter(({ rounds }) => rounds > 0).sort((a, b) => a.cwnd - b.cwnd);
  if (seen.length === 0) throw new RangeError('expected at least one round');
  const windows = seen.map(({ cwnd }) => cwnd);
  const packets = seen.map(({ cwnd, rounds }) => cwnd * rounds);
  const smallest = windows[0]!;
  const largest = windows.at(-1)!;
  const events = sum(seen.map(({ lossEvents }) => lossEvents));
  const overall = (events + PRIOR_EVENTS) / (sum(packets) + PRIOR_EVENTS);
  const known = new Map<number, number>();

  const rateAt = (cwnd: number): number => {
    let nearEvents = PRIOR_EVENTS;
    let nearPackets = PRIOR_EVENTS / overall;
    const reach = Math.exp(BANDWIDTH * REACH);
    const end = firstAbove(windows, cwnd * reach);
    for (let i = firstAbove(windows, cwnd / reach); i < end; i++) {
      const weight = Math.exp(-0.5 * (Math.log(windows[i]! / cwnd) / BANDWIDTH) ** 2);
      nearEvents += weight * seen[i]!.lossEvents;
      nearPackets += weight * packets[i]!;
    }
    return Math.min(1, nearEvents / nearPackets);
  };
  return {
    perPacket(cwnd) {
      const at = Math.min(Math.max(cwnd, smallest), largest);
      let rate = known.get(at);
      if (rate === undefined) {
        rate = rateAt(at);
        known.set(at, rate);
      }
      return rate;
    },
    perRound(cwnd) {
      return Math.min(1, cwnd * this.perPacket(cwnd));
    },
    smallest,
    largest,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Index of the first of the rising values that is above `limit`. */
function firstAbove(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

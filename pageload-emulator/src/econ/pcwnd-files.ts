/**
 * The files of loss by congestion window, p(cwnd, npc) of ECON (Cao et al., IMC 2019): ECON's own, which
 * `lossByClimb` takes, and the lab's counts, which `lossByRound` takes.
 */
import * as z from 'zod/mini';
import { InputError, inputErrorFrom, shown } from '../util/input-error.ts';

/** A row `cwnd,p`: a loss event in a window of `cwnd` segments has the probability `cwnd · p`. */
export interface WindowLoss {
  cwnd: number;
  p: number;
}

/** What was counted for a window of `cwnd` segments: rounds, their packets, and how many of the rounds lost. */
export interface WindowCount {
  cwnd: number;
  rounds: number;
  /** Fewer than `rounds · cwnd` where the sender did not fill its window. */
  packets: number;
  lossEvents: number;
}

const HEADER = 'cwnd,p';
/** Above any window that a 32-bit sequence space allows. */
const MAX_WINDOW = 2 ** 31;

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
    if (!(cwnd! >= 1 && cwnd! < MAX_WINDOW)) {
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
  return /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(cell) ? Number(cell) : Number.NaN;
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
          packets: whole('a number of packets'),
          lossEvents: whole('a number of loss events'),
        },
        'an object',
      )
      .check(
        z.refine(({ rounds, lossEvents }) => lossEvents <= rounds, 'no more loss events than rounds'),
        z.refine(({ rounds, packets }) => packets >= rounds, 'at least as many packets as rounds'),
      ),
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
  return parsed.data.windows;
}

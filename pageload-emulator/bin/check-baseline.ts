/** What changed since an earlier answer of `hopwise check --json`, beside the noise of the figures. */
import { normalize } from 'node:path';
import { jsonFault } from '@hopwise/contract';
import { InputError } from '@hopwise/pageload-emulator';
import * as z from 'zod/mini';
import { roundNumber } from './output.ts';

const time = z.number('milliseconds').check(z.nonnegative('milliseconds'));
const count = z.optional(z.number('a number').check(z.nonnegative('a number')));
const baselineSchema = z.object(
  {
    pages: z.array(
      z.object({
        file: z.string('a file'),
        network: z.string('a name'),
        loadTimeMs: z.number('milliseconds').check(z.positive('milliseconds above 0')),
        range: z.object({ low: time, high: time }),
        firstPaintMs: z.nullish(time),
        largestPaintMs: z.nullish(time),
        requests: count,
        bytes: count,
      }),
      'the pages of hopwise check --json',
    ),
  },
  'the answer of hopwise check --json',
);

/** The rows of an earlier check. */
export type CheckBaseline = z.infer<typeof baselineSchema>['pages'];

/** How a page's load time on a network differs from the baseline's. */
export interface CheckChange {
  /** Load time then, milliseconds. */
  beforeMs: number;
  /** Requests and transferred bytes of the page then; null where the baseline does not show them. */
  beforeRequests: number | null;
  beforeBytes: number | null;
  /** Share by which it grew; negative where it fell. */
  growth: number;
  /** Growth, or fall, by which single loads differ by chance. */
  noise: number;
  verdict: 'slower' | 'faster' | 'within the noise';
}

/** Standard deviations between the 10th and the 90th percentile of a normal distribution. */
const DEVIATIONS_10_TO_90 = 2.563;
/** One in a hundred pages that did not change differs by more than this many standard deviations of the logarithm, in either direction. */
const NOISE_DEVIATIONS = 2.576;

/** @throws InputError naming the place and what was expected there */
export function parseBaseline(text: string): CheckBaseline {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new InputError(
      `top level: expected the answer of hopwise check --json, got ${jsonFault(text, error)}`,
    );
  }
  const parsed = baselineSchema.safeParse(content);
  if (parsed.success) return parsed.data.pages;
  const { path, message } = parsed.error.issues[0]!;
  const place = path.length === 0 ? 'top level' : path.join('.');
  throw new InputError(`${place}: expected ${message}`);
}

/** Whether both are of the same page on the same network; a file may be named in several ways. */
export const isSameRow = (a: PlacedRow, b: PlacedRow): boolean =>
  a.network === b.network && normalize(a.file) === normalize(b.file);

type PlacedRow = Pick<CheckBaseline[number], 'file' | 'network'>;

/** What a change is judged by. */
type TimedRow = PlacedRow & Pick<CheckBaseline[number], 'loadTimeMs' | 'range' | 'requests' | 'bytes'>;

/** Compares a row with the baseline's row of the same file and network; null where it has none. */
export function changeOf(row: TimedRow, baseline: readonly TimedRow[]): CheckChange | null {
  const { loadTimeMs } = row;
  const before = baseline.find((each) => isSameRow(each, row));
  if (before === undefined) return null;
  // The baseline's figure was rounded when it was written.
  const growth = roundNumber(loadTimeMs) / before.loadTimeMs - 1;
  // Loads scatter by shares of what they take: a page that became slower must not hide that by its larger range.
  const spread = NOISE_DEVIATIONS * Math.hypot(deviation(row), deviation(before));
  const noise = growth >= 0 ? Math.exp(spread) - 1 : 1 - Math.exp(-spread);
  const verdict = Math.abs(growth) <= noise ? 'within the noise' : growth > 0 ? 'slower' : 'faster';
  return {
    beforeMs: before.loadTimeMs,
    beforeRequests: before.requests ?? null,
    beforeBytes: before.bytes ?? null,
    growth,
    noise,
    verdict,
  };
}

/** Standard deviation of the logarithm of a load time. */
const deviation = ({ loadTimeMs, range: { low, high } }: Pick<TimedRow, 'loadTimeMs' | 'range'>): number =>
  (high - low) / DEVIATIONS_10_TO_90 / loadTimeMs;

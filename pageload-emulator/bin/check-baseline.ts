/** What changed since an earlier answer of `hopwise check --json`, beside the noise of the figures. */
import { InputError } from '@hopwise/pageload-emulator';
import * as z from 'zod/mini';
import { roundNumber } from './output.ts';

const time = z.number('milliseconds').check(z.nonnegative('milliseconds'));
const baselineSchema = z.object(
  {
    pages: z.array(
      z.object({
        file: z.string('a file'),
        network: z.string('a name'),
        loadTimeMs: time,
        range: z.object({ low: time, high: time }),
        firstPaintMs: z.nullish(time),
        largestPaintMs: z.nullish(time),
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
  /** Share by which it grew; negative where it fell. */
  growth: number;
  /** Share within which single loads differ that much by chance. */
  noise: number;
  verdict: 'slower' | 'faster' | 'within the noise';
}

/** Standard deviations between the 10th and the 90th percentile of a normal distribution. */
const DEVIATIONS_10_TO_90 = 2.563;
/** One in a hundred pages that did not change differs by more than this many standard deviations, in either direction. */
const NOISE_DEVIATIONS = 2.576;

/** @throws InputError naming the place and what was expected there */
export function parseBaseline(text: string): CheckBaseline {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new InputError(
      `top level: expected the answer of hopwise check --json, got ${(error as Error).message}`,
    );
  }
  const parsed = baselineSchema.safeParse(content);
  if (parsed.success) return parsed.data.pages;
  const { path, message } = parsed.error.issues[0]!;
  const place = path.length === 0 ? 'top level' : path.join('.');
  throw new InputError(`${place}: expected ${message}`);
}

/** What a change is judged by. */
type TimedRow = Pick<CheckBaseline[number], 'file' | 'network' | 'loadTimeMs' | 'range'>;

/** Compares a row with the baseline's row of the same file and network; null where it has none. */
export function changeOf(
  { file, network, loadTimeMs, range }: TimedRow,
  baseline: readonly TimedRow[],
): CheckChange | null {
  const before = baseline.find((each) => each.file === file && each.network === network);
  if (before === undefined) return null;
  // The baseline's figure was rounded when it was written.
  const growth = roundNumber(loadTimeMs) / before.loadTimeMs - 1;
  const noise =
    (NOISE_DEVIATIONS * Math.hypot(deviation(range), deviation(before.range))) / before.loadTimeMs;
  const verdict = Math.abs(growth) <= noise ? 'within the noise' : growth > 0 ? 'slower' : 'faster';
  return { beforeMs: before.loadTimeMs, growth, noise, verdict };
}

const deviation = ({ low, high }: { low: number; high: number }): number =>
  (high - low) / DEVIATIONS_10_TO_90;

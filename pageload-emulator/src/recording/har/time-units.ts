import { originOf } from '../../util/url.ts';
import type { Entry, Har } from './schema.ts';
import { lengthOf } from './values.ts';

const NS_PER_MS = 1e6;
/** Nothing comes over a network faster, nor do all requests of a file take this many milliseconds. */
const MIN_NS = 0.1 * NS_PER_MS;
/** That this many requests all take so long is no coincidence. */
const MIN_LONG = 3;

/**
 * Reads lengths in nanoseconds, as programs in Go write them that take their `time.Duration` for a number, where they can be no milliseconds: all
 * requests of the file would have taken over a minute and a half, and half of them over a quarter of an hour.
 */
export function withMilliseconds(log: Har): Har {
  const took = log.entries
    .filter(({ request }) => originOf(request.url) !== null)
    .map(({ time }) => lengthOf(time))
    .filter((length) => length > 0);
  const isLong = took.length >= MIN_LONG && took.every((length) => length >= MIN_NS);
  if (!isLong || 2 * took.filter((length) => length >= NS_PER_MS).length < took.length) return log;
  return { ...log, entries: log.entries.map(inMilliseconds) };
}

function inMilliseconds({ time, timings, ...entry }: Entry): Entry {
  const phases = Object.entries(timings ?? {}).map(([name, length]) => [name, inMs(length)]);
  return { ...entry, time: inMs(time), timings: timings == null ? timings : Object.fromEntries(phases) };
}

/** What stands for no length stays. */
function inMs(length: number | string | null | undefined): typeof length {
  return Number(length) > 0 ? Number(length) / NS_PER_MS : length;
}

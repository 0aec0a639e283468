import type { Entry, Har } from './schema.ts';
import { lengthOf } from './values.ts';

/** Recorders that count the opening of a connection beside the first request on it, which began when the proxy had read it. */
const COUNTS_BESIDE = /mitmproxy|selenium wire/i;

/**
 * Places the opening of connections as HAR 1.2 does in a file of mitmproxy, whose `startedDateTime` is when it had read a request. It opens
 * a connection with TLS before it sets up TLS with the browser, so that a request waited for that before it began, and one without TLS for
 * the request at hand, whose `wait` contains it. Its `connect` ends before TLS, and resolves the name.
 */
export function withEarlyOpenings(log: Har): Har {
  if (!COUNTS_BESIDE.test(log.creator?.name ?? '')) return log;
  return { ...log, entries: log.entries.map(withOpening) };
}

function withOpening(entry: Entry): Entry {
  const { startedDateTime, timings, time } = entry;
  const connectMs = lengthOf(timings?.connect);
  const sslMs = lengthOf(timings?.ssl);
  if (sslMs > 0) {
    const openingMs = connectMs + sslMs;
    const issued = new Date(Date.parse(startedDateTime) - openingMs).toISOString();
    return { ...entry, startedDateTime: issued, timings: { ...timings, connect: openingMs } };
  }
  const waitMs = lengthOf(timings?.wait);
  if (connectMs === 0 || connectMs > waitMs) return entry;
  return {
    ...entry,
    time: Math.max(0, lengthOf(time) - connectMs),
    timings: { ...timings, wait: waitMs - connectMs },
  };
}

import { originOf } from '../../util/url.ts';
import type { Entry, Har } from './schema.ts';
import { lengthOf } from './values.ts';

/** Recorders that count the opening of a connection beside the first request on it, which began when the proxy had read it. */
const COUNTS_BESIDE = /mitmproxy|selenium wire/i;
/** Recorders that write how long a tunnel took to open into the first request through it, which began when the proxy had read that. */
const COUNTS_TUNNELS = /browser(mob|up)/i;

/** TLS takes at least TCP's round trip: a TCP phase of more than so many times TLS's contains something else. */
const MAX_TCP_TO_TLS = 2;

/**
 * Places the opening of connections as HAR 1.2 does in files of proxies whose `startedDateTime` is when they had read a request: they open
 * a connection with TLS before they set up TLS with the browser, so that a request waited for that before it began.
 */
export function withEarlyOpenings(log: Har): Har {
  const creator = log.creator?.name ?? '';
  if (COUNTS_BESIDE.test(creator)) return { ...log, entries: log.entries.map(withOpening) };
  if (COUNTS_TUNNELS.test(creator)) return { ...log, entries: withTunnels(log.entries) };
  return log;
}

/**
 * mitmproxy opens a connection without TLS for the request at hand, whose `wait` contains it. Its `connect` ends before TLS, and resolves
 * the name.
 */
function withOpening(entry: Entry): Entry {
  const { startedDateTime, timings, time } = entry;
  const connectMs = lengthOf(timings?.connect);
  const sslMs = lengthOf(timings?.ssl);
  if (sslMs > 0) {
    const openingMs = connectMs + sslMs;
    return {
      ...entry,
      startedDateTime: before(startedDateTime, openingMs),
      timings: { ...timings, connect: openingMs },
    };
  }
  const waitMs = lengthOf(timings?.wait);
  if (connectMs === 0 || connectMs > waitMs) return entry;
  return {
    ...entry,
    time: Math.max(0, lengthOf(time) - connectMs),
    timings: { ...timings, wait: waitMs - connectMs },
  };
}

/**
 * BrowserMob Proxy since 2.1 opens a tunnel for TLS, whose times it writes into the first request that comes through it, and other
 * connections for the request at hand. Until 2.0 it opened all of them so, and timed no TLS. A browser opens tunnels ahead, and has other
 * requests wait for one to be free: one that took longer than connecting does was open before a request that is not its origin's first.
 */
function withTunnels(entries: readonly Entry[]): Entry[] {
  const first = new Map<string | null, Entry>();
  for (const entry of entries) {
    const origin = originOf(entry.request.url);
    const known = first.get(origin);
    if (known === undefined || Date.parse(entry.startedDateTime) < Date.parse(known.startedDateTime))
      first.set(origin, entry);
  }
  return entries.map((entry) => {
    const { startedDateTime, time, timings } = entry;
    const connectMs = lengthOf(timings?.connect);
    const sslMs = lengthOf(timings?.ssl);
    if (sslMs === 0) return entry;
    const openingMs = lengthOf(timings?.blocked) + lengthOf(timings?.dns) + connectMs;
    const isOwn = first.get(originOf(entry.request.url)) === entry;
    if (isOwn || connectMs - sslMs <= MAX_TCP_TO_TLS * sslMs)
      return { ...entry, startedDateTime: before(startedDateTime, openingMs) };
    return {
      ...entry,
      time: Math.max(0, lengthOf(time) - openingMs),
      timings: { ...timings, blocked: -1, dns: -1, connect: -1, ssl: -1 },
    };
  });
}

/** A date and time earlier by a length in milliseconds. */
const before = (date: string, ms: number): string => new Date(Date.parse(date) - ms).toISOString();

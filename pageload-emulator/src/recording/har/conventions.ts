import { CLOCK_SLACK_MS, median } from '@hopwise/contract';
import { parseProtocol } from '../protocol-name.ts';
import { namesConnection } from './connection.ts';
import { phaseLengths } from './phase-lengths.ts';
import type { Entry, Har } from './schema.ts';
import { isUnsplit } from './unsplit.ts';
import { lengthOf, numberOf, ROUNDING_MS } from './values.ts';

/** What a HAR's times mean where recorders differ. */
export interface Conventions {
  /**
   * Where the wait between a request's issue and the network stack's first step on it, `timings._queued`, is counted:
   *
   * - `before-start`: `startedDateTime` is when the network stack began; the wait lies before it (chrome-har).
   * - `in-blocked`: `startedDateTime` is the issue; `blocked` contains the wait (as DevTools counts it).
   * - `before-blocked`: `startedDateTime` is the issue; the wait lies between it and `blocked`.
   */
  queueing: 'before-start' | 'in-blocked' | 'before-blocked';
  /** Whether `connect` ends before TLS (Firefox, mitmproxy) instead of containing it (HAR 1.2). */
  sslApart: boolean;
  /** Whether a response's `bodySize` contains its headers (Firefox). */
  bodyHasHeaders: boolean;
  /** Whether the sizes of a body are those of its first part to arrive (PhantomJS). */
  sizesFirstPart: boolean;
  /** Whether `_transferSize` is written where bytes came over the network, so that 0 means none. */
  countsTransfers: boolean;
  /** Whether an entry without a connection whose body has no bytes on the wire had neither: those with both name them. */
  namesConnections: boolean;
  /** Whether an entry's time is split into phases; some recorders write all of it as one, or share it out without knowing them. */
  splitsTimes: boolean;
  /** Whether times of bodies are written, so that what no phase of a request accounts for came before them. */
  timesBodies: boolean;
  /** Whether waits are written where an answer was waited for, so that no time at all means none. */
  timesWaits: boolean;
}

/** A shorter wait shows nothing beside the rounding of times. */
const MIN_QUEUED_MS = 2;

/**
 * Determines the conventions of a HAR from its own times; the recorder's name decides only where the times allow both. Many tools
 * pass on what another one wrote, under their own name.
 *
 * @param entries of one page load, in order of `startedDateTime`
 */
export function conventionsOf({ creator, browser }: Har, entries: readonly Entry[]): Conventions {
  const bodyHasHeaders =
    /firefox/i.test(`${creator?.name} ${browser?.name}`) && !/playwright|hopwise/i.test(creator?.name ?? '');
  return {
    queueing: queueingOf(entries),
    sslApart: !/playwright/i.test(creator?.name ?? '') && isSslApart(entries, bodyHasHeaders),
    bodyHasHeaders,
    sizesFirstPart: /phantomjs/i.test(creator?.name ?? ''),
    countsTransfers: entries.some(({ response }) => lengthOf(response?._transferSize) > 0),
    namesConnections: entries.some(
      (entry) => namesConnection(entry) && hasContent(entry) && numberOf(entry.response?.bodySize) !== 0,
    ),
    splitsTimes: !isUnsplit(entries),
    timesBodies: entries.some(({ timings }) => lengthOf(timings?.receive) > 0),
    timesWaits: entries.some(({ timings }) => lengthOf(timings?.wait) > 0),
  };
}

const hasContent = ({ response }: Entry): boolean => lengthOf(response?.content?.size) > 0;

interface Queued {
  entry: Entry;
  queuedMs: number;
  blockedMs: number;
}

function queueingOf(entries: readonly Entry[]): Conventions['queueing'] {
  const queued = entries.flatMap((entry): Queued | [] => {
    const queuedMs = lengthOf(entry.timings?._queued);
    return queuedMs < MIN_QUEUED_MS ? [] : { entry, queuedMs, blockedMs: lengthOf(entry.timings?.blocked) };
  });
  if (queued.length === 0) return 'before-start';
  if (queued.every(isCountedApart)) return 'before-blocked';
  // A part is not longer than the whole.
  if (queued.some(({ queuedMs, blockedMs }) => blockedMs < queuedMs - ROUNDING_MS)) return 'before-start';
  return makesMostOfBlocked(queued) || precedesItsCause(queued, entries) ? 'in-blocked' : 'before-start';
}

/** Whether an entry's `time` contains the wait beside all other phases. */
function isCountedApart({ entry, queuedMs }: Queued): boolean {
  return Math.abs(lengthOf(entry.time) - phasesMs(entry) - queuedMs) <= ROUNDING_MS;
}

/** Entries needed before their likeness is no chance. */
const MIN_ALIKE = 3;

/** Whether `blocked` is hardly longer than the wait in most entries: waits that lie apart are of unrelated lengths. */
function makesMostOfBlocked(queued: readonly Queued[]): boolean {
  const alike = queued.filter(
    ({ queuedMs, blockedMs }) => blockedMs - queuedMs <= Math.max(MIN_QUEUED_MS, 0.1 * queuedMs),
  );
  return alike.length >= MIN_ALIKE && alike.length > queued.length / 2;
}

/** Whether a request would have been issued before the response that names it began, if its wait lay before its start. */
function precedesItsCause(queued: readonly Queued[], entries: readonly Entry[]): boolean {
  const begins = new Map<string, number>();
  for (const entry of entries)
    if (!begins.has(entry.request.url)) begins.set(entry.request.url, responseBegin(entry));
  return queued.some(({ entry, queuedMs }) => {
    const initiator = entry._initiator;
    const url =
      typeof initiator === 'string' ? initiator : (initiator as { url?: unknown } | null | undefined)?.url;
    const begin = typeof url === 'string' ? begins.get(url) : undefined;
    const started = Date.parse(entry.startedDateTime);
    return begin !== undefined && started >= begin && started - queuedMs < begin - CLOCK_SLACK_MS;
  });
}

/** When a response began, Unix time in milliseconds, by the phases from `startedDateTime` on. */
function responseBegin({ startedDateTime, timings }: Entry): number {
  const lengths = [timings?.blocked, timings?.dns, timings?.connect, timings?.send, timings?.wait];
  return lengths.reduce<number>((sum, length) => sum + lengthOf(length), Date.parse(startedDateTime));
}

/** Where `connect` contains TLS, it is at least this many times as long: 3 round trips to 2 with TLS 1.2. */
const MIN_RATIO_WITH_TLS = 1.3;

/**
 * Whether TLS lies beside `connect`: it is longer than `connect`, or about as long where the recorder is known for it or counts both into
 * an entry's `time` (mitmproxy), or writes none. Tools that pass on what Playwright wrote count TLS into `time` a second time, but their
 * `connect` is longer than TLS, except over HTTP/3: QUIC connects and sets up TLS in the same packets (RFC 9001 section 4), so that equal
 * lengths tell nothing there, nor does TLS that goes on after requests have left with the first packets (early data). Of Playwright itself they tell nothing at all: where TCP ends on the machine itself, as at a local proxy or
 * in a tunnel, all of connecting is TLS.
 */
function isSslApart(entries: readonly Entry[], expected: boolean): boolean {
  const ratios: number[] = [];
  let countedBeside = 0;
  let timed = 0;
  for (const entry of entries) {
    const connectMs = lengthOf(entry.timings?.connect);
    const sslMs = lengthOf(entry.timings?.ssl);
    if (sslMs === 0) continue;
    const isCounted = Math.abs(lengthOf(entry.time) - phasesMs(entry) - sslMs) <= ROUNDING_MS;
    // On a connection that a proxy had opened before.
    if (connectMs === 0 && !isCounted) continue;
    if (isOverQuic(entry) && connectMs > 0) continue;
    if (sslMs > connectMs + ROUNDING_MS) return true;
    ratios.push(connectMs / sslMs);
    if (isCounted) countedBeside++;
    if (lengthOf(entry.time) > 0) timed++;
  }
  if (ratios.length === 0) return expected;
  const isBeside = expected || timed === 0 || countedBeside > ratios.length / 2;
  return isBeside && median(ratios) < MIN_RATIO_WITH_TLS;
}

/** Whether an entry was sent over HTTP/3. */
export function isOverQuic({ request, response }: Entry): boolean {
  return (parseProtocol(response?.httpVersion) ?? parseProtocol(request.httpVersion)) === 'h3';
}

/** The sum of an entry's phases. */
function phasesMs(entry: Entry): number {
  return phaseLengths(entry).reduce((sum, ms) => sum + ms, 0);
}

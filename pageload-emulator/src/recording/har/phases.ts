import { NO_PHASES, type RequestPhases } from '@hopwise/contract';
import { type Conventions, isOverQuic } from './conventions.ts';
import { phaseLengths } from './phase-lengths.ts';
import type { Entry } from './schema.ts';
import { lengthOf, numberOf, ROUNDING_MS } from './values.ts';

export interface Times {
  startMs: number;
  endMs: number;
  phases: RequestPhases;
}

/**
 * Reads HAR 1.2 `timings`: consecutive durations, −1 when a phase did not take place.
 *
 * @param startedMs `startedDateTime`, milliseconds after navigationStart
 * @returns times after navigationStart; `startMs` is when the request was issued, under every convention
 */
export function harPhases(
  entry: Entry,
  startedMs: number,
  { queueing, sslApart, splitsTimes, timesBodies }: Conventions,
): Times {
  const { timings } = entry;
  const queuedMs = lengthOf(timings?._queued);
  const startMs = Math.max(0, startedMs - (queueing === 'before-start' ? queuedMs : 0));
  const phases: RequestPhases = { ...NO_PHASES };
  const waitMs = numberOf(timings?.wait);
  if (isReceivedSinceOrigin(entry)) return { startMs, endMs: startedMs + lengthOf(entry.time), phases };
  if (!timings || waitMs === null || waitMs < 0 || !splitsTimes) {
    const tookMs = Math.max(
      lengthOf(entry.time),
      phaseLengths(entry).reduce((sum, ms) => sum + ms, 0),
    );
    return { startMs, endMs: startedMs + tookMs, phases };
  }
  const dnsMs = numberOf(timings.dns) ?? -1;
  const connectMs = numberOf(timings.connect) ?? -1;
  const sslMs = lengthOf(timings.ssl);
  const openingMs = Math.max(0, connectMs) + (sslApart ? sslMs : 0);
  const sendMs = sendingMs(entry);
  // Playwright counts `ssl` into `time` a second time.
  const totalMs = lengthOf(entry.time) - (sslApart ? 0 : sslMs);
  const waitedMs = lengthOf(timings.blocked) + (queueing === 'before-blocked' ? queuedMs : 0);
  const phasesMs = waitedMs + Math.max(0, dnsMs) + openingMs + sendMs + waitMs + lengthOf(timings.receive);
  // What no phase accounts for was a wait for a connection where bodies are timed: a body's time is known.
  const unexplainedMs = timesBodies && totalMs - phasesMs > ROUNDING_MS ? totalMs - phasesMs : 0;
  let at = startedMs + waitedMs + unexplainedMs;
  if (dnsMs > 0) {
    phases.dnsStartMs = at;
    at += dnsMs;
    phases.dnsEndMs = at;
  }
  // Early data: the request left before the handshake had ended, whose `connect` is no round trip.
  const isEarly = !sslApart && sslMs > connectMs + ROUNDING_MS && isOverQuic(entry);
  if (isEarly) at += openingMs;
  else if (connectMs > 0 || (sslApart && sslMs > 0)) {
    phases.connectStartMs = at;
    at += openingMs;
    phases.connectEndMs = at;
    if (sslMs > 0) phases.secureStartMs = Math.max(phases.connectStartMs, at - sslMs);
  }
  // A request without a body leaves in one piece: DevTools counts the wait for its dispatch on a connection as sending.
  const hasBody = (numberOf(entry.request.bodySize) ?? 0) > 0;
  phases.requestStartMs = at + (hasBody ? 0 : sendMs);
  at += sendMs + waitMs;
  phases.responseStartMs = at;
  const endMs = at + lengthOf(timings.receive);
  return { startMs: Math.min(startMs, endMs), endMs: Math.max(endMs, startedMs + totalMs), phases };
}

/**
 * Whether `receive` is no length, but when the response had ended after its page's time origin. Scripts that write a HAR of Resource Timing
 * subtract when the response began, which is 0, as are all other phases, for answers of other origins that do not allow more
 * (Resource Timing, "Timing-Allow-Origin Response Header").
 */
function isReceivedSinceOrigin(entry: Entry): boolean {
  const tookMs = lengthOf(entry.time);
  const receiveMs = lengthOf(entry.timings?.receive);
  const isAlone = phaseLengths(entry).filter((ms) => ms > 0).length === 1;
  return isAlone && tookMs > 0 && receiveMs > tookMs + ROUNDING_MS;
}

/** How long a request was being sent; Safari counts what it was blocked for into that a second time, on a connection that was open. */
export function sendingMs({ timings, time }: Entry): number {
  const sendMs = lengthOf(timings?.send);
  const blockedMs = lengthOf(timings?.blocked);
  const restMs =
    lengthOf(timings?.dns) +
    lengthOf(timings?.connect) +
    lengthOf(timings?.wait) +
    lengthOf(timings?.receive);
  const isTwice =
    sendMs > ROUNDING_MS &&
    Math.abs(sendMs - blockedMs) <= ROUNDING_MS &&
    Math.abs(lengthOf(time) - restMs - blockedMs) <= ROUNDING_MS;
  return isTwice ? 0 : sendMs;
}

/**
 * Reads WebPageTest's absolute times, milliseconds after the start of the page; null for other HARs.
 *
 * @param offsetMs from the start of the page to navigationStart
 */
export function webPageTestPhases(entry: Entry, offsetMs: number): Times | null {
  const times = absoluteTimes(entry);
  if (times === null || offsetMs === 0) return times;
  const { startMs, endMs, phases } = times;
  const moved = Object.entries(phases).map(([name, ms]) => [name, ms === null ? null : ms - offsetMs]);
  const from = Math.max(0, startMs - offsetMs);
  return { startMs: from, endMs: Math.max(from, endMs - offsetMs), phases: Object.fromEntries(moved) };
}

function absoluteTimes(entry: Entry): Times | null {
  const loadStart = numberOf(entry._load_start);
  const loadEnd = numberOf(entry._load_end);
  if (loadStart === null || loadEnd === null) return null;
  const phases: RequestPhases = { ...NO_PHASES };
  const span = (start: number | null, end: number | null): [number, number] | null =>
    start !== null && end !== null && start >= 0 && end > start ? [start, end] : null;
  const dns = span(numberOf(entry._dns_start), numberOf(entry._dns_end));
  const connect = span(numberOf(entry._connect_start), numberOf(entry._connect_end));
  const ssl = span(numberOf(entry._ssl_start), numberOf(entry._ssl_end));
  // Some versions write 0 for the start of a resolution that has only an end.
  if (dns && dns[0] > 0) [phases.dnsStartMs, phases.dnsEndMs] = dns;
  if (connect) {
    phases.connectStartMs = connect[0];
    phases.connectEndMs = ssl ? Math.max(connect[1], ssl[1]) : connect[1];
    phases.secureStartMs = ssl ? ssl[0] : null;
  }
  phases.requestStartMs = numberOf(entry._ttfb_start) ?? loadStart;
  phases.responseStartMs = numberOf(entry._ttfb_end) ?? loadEnd;
  const allStart = numberOf(entry._all_start);
  const firstStep = allStart !== null && allStart >= 0 ? Math.min(allStart, loadStart) : loadStart;
  const created = numberOf(entry._created);
  const startMs = created !== null && created > 0 ? Math.min(created, firstStep) : firstStep;
  return { startMs: Math.max(0, startMs), endMs: Math.max(startMs, loadEnd), phases };
}

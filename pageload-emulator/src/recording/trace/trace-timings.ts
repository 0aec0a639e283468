import type { TraceTiming } from './trace-events.ts';

/** Phases of HAR 1.2 with their sum, milliseconds. */
interface Timed {
  time: number;
  timings: Record<string, number>;
}

/**
 * Turns the DevTools protocol's `ResourceTiming`, milliseconds after `requestTime`, into phases of HAR 1.2.
 *
 * @param timing null for an answer from a cache, and for no answer
 * @param issuedMs when the request was issued, on the trace's clock
 * @param endMs when its answer had ended, on the same clock
 */
export function timingsOf(timing: TraceTiming | null, issuedMs: number, endMs: number): Timed {
  if (timing === null) return { time: Math.max(0, endMs - issuedMs), timings: {} };
  const queuedMs = Math.max(0, 1_000 * timing.requestTime - issuedMs);
  const span = (start: number | null | undefined, end: number | null | undefined): number =>
    start != null && end != null && start >= 0 && end >= start ? end - start : -1;
  const firstStep = [timing.dnsStart, timing.connectStart, timing.sendStart].find(
    (ms) => ms != null && ms >= 0,
  );
  const sentMs = Math.max(0, timing.sendEnd ?? 0);
  const begun = [timing.receiveHeadersStart, timing.receiveHeadersEnd].find(
    (ms) => ms != null && ms >= sentMs,
  );
  const waitedMs = begun ?? sentMs;
  const dns = span(timing.dnsStart, timing.dnsEnd);
  const connect = span(timing.connectStart, timing.connectEnd);
  const ready = Math.max(timing.connectEnd ?? -1, timing.dnsEnd ?? -1, firstStep ?? 0, 0);
  const timings = {
    blocked: queuedMs + (firstStep ?? 0),
    dns,
    connect,
    ssl: span(timing.sslStart, timing.sslEnd),
    send: Math.max(0, sentMs - ready),
    wait: waitedMs - sentMs,
    receive: Math.max(0, endMs - 1_000 * timing.requestTime - waitedMs),
  };
  const { blocked, send, wait, receive } = timings;
  return { time: blocked + Math.max(0, dns) + Math.max(0, connect) + send + wait + receive, timings };
}

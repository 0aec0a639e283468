import type { RequestPhases } from '@hopwise/contract';
import type { Entry } from './schema.ts';
import { numberOf } from './values.ts';

export interface Times {
  startMs: number;
  endMs: number;
  phases: RequestPhases;
}

/** Reads HAR 1.2 `timings`: consecutive durations, −1 when a phase did not take place. */
export function harPhases(entry: Entry, startedMs: number, sslApart: boolean): Times {
  const { timings } = entry;
  const lengthOf = (value: number | string | null | undefined) => Math.max(0, numberOf(value) ?? 0);
  const totalMs = lengthOf(entry.time);
  // chrome-har's `_queued` lies before `startedDateTime`; DevTools' queueing is part of `blocked`.
  const startMs = Math.max(0, startedMs - lengthOf(timings?._queued));
  const phases = noPhases();
  const waitMs = numberOf(timings?.wait);
  if (!timings || waitMs === null || waitMs < 0) {
    return { startMs, endMs: startedMs + totalMs, phases };
  }
  let at = startedMs + lengthOf(timings.blocked);
  const dnsMs = numberOf(timings.dns) ?? -1;
  if (dnsMs > 0) {
    phases.dnsStartMs = at;
    at += dnsMs;
    phases.dnsEndMs = at;
  }
  const connectMs = numberOf(timings.connect) ?? -1;
  if (connectMs > 0) {
    const sslMs = lengthOf(timings.ssl);
    phases.connectStartMs = at;
    // HAR 1.2 counts `ssl` within `connect`; Firefox puts it after.
    at += connectMs + (sslApart ? sslMs : 0);
    phases.connectEndMs = at;
    if (sslMs > 0) phases.secureStartMs = Math.max(phases.connectStartMs, at - sslMs);
  }
  phases.requestStartMs = at;
  at += lengthOf(timings.send) + waitMs;
  phases.responseStartMs = at;
  const endMs = at + lengthOf(timings.receive);
  return { startMs: Math.min(startMs, endMs), endMs: Math.max(endMs, startedMs + totalMs), phases };
}

/** Reads WebPageTest's absolute times, milliseconds after the start of the test; null for other HARs. */
export function webPageTestPhases(entry: Entry): Times | null {
  const loadStart = numberOf(entry._load_start);
  const loadEnd = numberOf(entry._load_end);
  if (loadStart === null || loadEnd === null) return null;
  const phases = noPhases();
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
  const startMs = allStart !== null && allStart >= 0 ? Math.min(allStart, loadStart) : loadStart;
  return { startMs: Math.max(0, startMs), endMs: Math.max(startMs, loadEnd), phases };
}

/** The phases of a request when all are unknown or did not take place. */
export function noPhases(): RequestPhases {
  return {
    dnsStartMs: null,
    dnsEndMs: null,
    connectStartMs: null,
    secureStartMs: null,
    connectEndMs: null,
    requestStartMs: null,
    responseStartMs: null,
  };
}

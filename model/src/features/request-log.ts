import type { RecordedRequest, Recording } from '@hopwise/contract';
import { handshakeTrips, originOf } from '@hopwise/pageload-emulator';
import type { Feature, LoggedRequest } from './window-features.ts';

/** Length of the record window, in which round trips and first bytes are averaged (WiseTrans, section 4.5.2), milliseconds. */
const RECORD_WINDOW_MS = 30_000;

/**
 * Reads the request log out of a recording: every answered request that went over the network, in order of completion.
 *
 * Goodputs are bytes of the body per millisecond: from the first to the last byte of the response, and from the request to the last
 * byte. A browser sees round trips in handshakes only, and no retransmissions; what it withheld is absent.
 *
 * @returns times in seconds since 1970
 */
export function logRequests(recording: Recording): LoggedRequest[] {
  const startS = Date.parse(recording.recordedAt) / 1000;
  const recent = { tcp: new RecordWindow(), quic: new RecordWindow() };
  const firsts = firstRequests(recording.requests);
  return recording.requests
    .filter(({ fromCache, status, protocol }) => !fromCache && status > 0 && protocol !== null)
    .sort((a, b) => a.endMs - b.endMs)
    .map((request) => {
      const protocol = request.protocol === 'h3' ? 'quic' : 'tcp';
      const window = recent[protocol];
      const trips = handshakeTrips(request, firsts.has(request.id));
      for (const { kind, isClipped, rttMs, endMs } of trips) {
        if (kind === 'transport' && !isClipped) window.roundTrips.push({ endMs, valueMs: rttMs });
      }
      return {
        timeS: startS + request.endMs / 1000,
        protocol,
        figures: figuresOf(request, window),
      };
    });
}

interface Timed {
  endMs: number;
  valueMs: number;
}

/** What the latest requests under one transport measured. */
class RecordWindow {
  readonly roundTrips: Timed[] = [];
  readonly firstBytes: Timed[] = [];
}

function figuresOf(
  { phases: { requestStartMs, responseStartMs }, endMs, bodyBytes }: RecordedRequest,
  { roundTrips, firstBytes }: RecordWindow,
): LoggedRequest['figures'] {
  const figures: Partial<Record<Feature, number>> = {};
  const meanRttMs = meanSince(roundTrips, endMs);
  if (meanRttMs !== null) figures.mean_rtt_ms = meanRttMs;
  if (requestStartMs === null || responseStartMs === null) return figures;

  const ttfbMs = responseStartMs - requestStartMs;
  firstBytes.push({ endMs, valueMs: ttfbMs });
  const meanTtfbMs = meanSince(firstBytes, endMs)!;
  figures.ttfb_ms = ttfbMs;
  figures.mean_ttfb_ms = meanTtfbMs;
  if (meanTtfbMs > 0) figures.ttfb_ratio = ttfbMs / meanTtfbMs;
  if (bodyBytes === null || bodyBytes === 0) return figures;

  // A response that arrives at once has no measurable rate.
  if (endMs > responseStartMs) figures.response_goodput = bodyBytes / (endMs - responseStartMs);
  if (endMs > requestStartMs) figures.completion_goodput = bodyBytes / (endMs - requestStartMs);
  return figures;
}

/** Mean of the values in the record window that ends at a time; null without any. */
function meanSince(values: readonly Timed[], endMs: number): number | null {
  const recent = values.filter((each) => each.endMs >= endMs - RECORD_WINDOW_MS);
  if (recent.length === 0) return null;
  return recent.reduce((sum, { valueMs }) => sum + valueMs, 0) / recent.length;
}

/** Ids of the first request to each origin. */
function firstRequests(requests: readonly RecordedRequest[]): Set<number> {
  const firsts = new Map<string | null, number>();
  for (const { id, url } of requests) {
    const origin = originOf(url);
    if (!firsts.has(origin)) firsts.set(origin, id);
  }
  return new Set(firsts.values());
}

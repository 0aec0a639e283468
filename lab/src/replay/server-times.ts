import type { RecordedRequest, ResourceType } from '@hopwise/pageload-emulator';

/** Types of computed answers, whose wait is the server's. Waits of the others are mostly queueing on the recording's link. */
const COMPUTED: ReadonlySet<ResourceType> = new Set(['document', 'iframe', 'fetch', 'beacon', 'other']);

const MAX_COMPUTED_MS = 3000;
const MAX_STATIC_MS = 50;
const MAX_EXTRA_RTT_MS = 300;
/** Requests needed for an origin's minimum wait to be meaningful. */
const MIN_ANSWERS_FOR_FLOOR = 3;
const MIN_OVERLAPPING = 2;

interface ServerTimes {
  /** Time between a request's arrival and the first byte of its answer. */
  thinkMs(request: RecordedRequest): number;
  /** Round trip of an origin's requests beyond that of the nearest origin. */
  extraRttMs(requests: RecordedRequest[]): number;
}

/** Estimates the servers' share of the recorded times. */
export function serverTimes(requests: RecordedRequest[]): ServerTimes {
  const byOrigin = new Map<string, RecordedRequest[]>();
  for (const request of requests) {
    const { origin } = new URL(request.url);
    byOrigin.set(origin, [...(byOrigin.get(origin) ?? []), request]);
  }
  const queueMs = linkQueue([...byOrigin.values()]);
  const roundTripOf = (own: RecordedRequest[]) => minRoundTrip(own, queueMs);
  const roundTrips = new Map([...byOrigin].map(([origin, own]) => [origin, roundTripOf(own)]));
  const nearest = least([...roundTrips.values()]) ?? least(requests.map(waitOf)) ?? 0;
  const staticThink = new Map(
    [...byOrigin].map(([origin, own]) => {
      const rtt = roundTrips.get(origin) ?? nearest;
      const waits = own.filter(({ type }) => !COMPUTED.has(type)).map(waitOf);
      // The shortest wait contains the least queueing.
      return [origin, between(0, (least(waits) ?? rtt) - rtt, MAX_STATIC_MS)];
    }),
  );
  return {
    thinkMs(request) {
      const { origin } = new URL(request.url);
      const wait = waitOf(request);
      if (!COMPUTED.has(request.type)) return tenths(staticThink.get(origin) ?? 0);
      const { requestStartMs, responseStartMs } = request.phases;
      if (wait === null || requestStartMs === null || responseStartMs === null) return 0;
      const queued = queueMs(requestStartMs, responseStartMs);
      return tenths(between(0, wait - (roundTrips.get(origin) ?? nearest) - queued, MAX_COMPUTED_MS));
    },
    extraRttMs(own) {
      const rtt = roundTripOf(own);
      return rtt === null ? 0 : tenths(between(0, rtt - nearest, MAX_EXTRA_RTT_MS));
    },
  };
}

/** TCP's handshake takes one round trip, and so does QUIC's. */
function minRoundTrip(requests: RecordedRequest[], queueMs: LinkQueue): number | null {
  return least(
    requests.map(({ phases: { connectStartMs, secureStartMs, connectEndMs } }) => {
      const end = secureStartMs ?? connectEndMs;
      if (connectStartMs === null || end === null || end <= connectStartMs) return null;
      return Math.max(0, end - connectStartMs - queueMs(connectStartMs, end));
    }),
  );
}

/** Queueing on the recording's link for an answer awaited from `startMs` to `endMs`. */
type LinkQueue = (startMs: number, endMs: number) => number;

/**
 * A full link delays the answers of all origins at once. Where several static answers overlap in time, their common delay is
 * the minimum of each one's wait beyond its origin's shortest wait; a single answer shows nothing.
 */
function linkQueue(origins: RecordedRequest[][]): LinkQueue {
  const seen: { startMs: number; endMs: number; excessMs: number }[] = [];
  for (const own of origins) {
    const answers = own.filter(({ type }) => !COMPUTED.has(type));
    const floor = least(answers.map(waitOf));
    if (floor === null || answers.length < MIN_ANSWERS_FOR_FLOOR) continue;
    for (const answer of answers) {
      const { requestStartMs: startMs, responseStartMs: endMs } = answer.phases;
      if (startMs !== null && endMs !== null)
        seen.push({ startMs, endMs, excessMs: endMs - startMs - floor });
    }
  }
  return (startMs, endMs) => {
    const overlapping = seen.filter((answer) => answer.startMs < endMs && answer.endMs > startMs);
    if (overlapping.length < MIN_OVERLAPPING) return 0;
    return Math.max(0, least(overlapping.map(({ excessMs }) => excessMs)) ?? 0);
  };
}

function waitOf({ phases: { requestStartMs, responseStartMs } }: RecordedRequest): number | null {
  return requestStartMs === null || responseStartMs === null ? null : responseStartMs - requestStartMs;
}

function least(values: (number | null)[]): number | null {
  return values.reduce((low, value) => (value !== null && (low === null || value < low) ? value : low), null);
}

const between = (low: number, value: number, high: number): number => Math.min(high, Math.max(low, value));

const tenths = (value: number): number => Math.round(value * 10) / 10;

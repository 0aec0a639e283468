import type { RecordedRequest, ResourceType } from '@hopwise/pageload-emulator';

/** Answers that are computed: their wait is the server's. Of the others it is mostly queueing on the recorder's link. */
const COMPUTED: ReadonlySet<ResourceType> = new Set(['document', 'iframe', 'fetch', 'beacon', 'other']);

const MAX_COMPUTED_MS = 3000;
const MAX_STATIC_MS = 50;
const MAX_EXTRA_RTT_MS = 300;
/** An origin's least wait means little below so many. */
const MIN_ANSWERS_FOR_FLOOR = 3;
const MIN_OVERLAPPING = 2;

export interface ServerTimes {
  /** Time between a request's arrival and the first byte of its answer. */
  thinkMs(request: RecordedRequest): number;
  /** Round trip beyond that of the nearest origin, of an origin's requests. */
  extraRttMs(requests: RecordedRequest[]): number;
}

/** Estimates the servers' part in the recorded times. */
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
      // The least wait has the least queueing in it.
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

/** Queueing on the recorder's link that any answer awaited from `startMs` to `endMs` met. */
type LinkQueue = (startMs: number, endMs: number) => number;

/**
 * A full link holds up the answers of all origins at once. Where several static answers overlap in time, the least of
 * what each waited beyond the least wait of its origin is what they have in common; one alone says nothing.
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

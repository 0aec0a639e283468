import { originOf } from '../../util/url.ts';
import type { RequestDraft } from '../requests/draft.ts';
import { MIN_WAIT_MS, TOO_SHORT } from '../round-trip-outliers.ts';
import { sendingMs } from './phases.ts';
import type { Entry } from './schema.ts';

/**
 * Mends requests that seem to be answered within much less than a round trip of their server. Chromium notes the end of sending late when
 * many requests leave together, at times after their answers: these had left when sending began. What else it counts as sending is a
 * wait for the request's dispatch.
 *
 * @param entryOf drafts with what they were read from; starts of requests are changed
 */
export function mendLateSending(entryOf: ReadonlyMap<RequestDraft, Entry>): void {
  const shortest = new Map<string | null, number>();
  for (const [draft, entry] of entryOf) {
    const origin = originOf(draft.url);
    const trips = [transportMs(draft), sendingMs(entry) < MIN_WAIT_MS ? waitMs(draft) : Infinity];
    const remote = trips.filter((ms) => ms >= MIN_WAIT_MS);
    shortest.set(origin, Math.min(shortest.get(origin) ?? Infinity, ...remote));
  }
  for (const [draft, entry] of entryOf) {
    const { phases, requestBodyBytes } = draft;
    const sendMs = sendingMs(entry);
    const tripMs = shortest.get(originOf(draft.url))!;
    const leastMs = Math.max(MIN_WAIT_MS, tripMs === Infinity ? 0 : TOO_SHORT * tripMs);
    if (sendMs >= MIN_WAIT_MS && !requestBodyBytes && waitMs(draft) < leastMs)
      phases.requestStartMs! -= sendMs;
  }
}

/** From the request to the first byte of its response, milliseconds; infinite where that is not known, or no server was waited for. */
function waitMs({ phases: { requestStartMs, responseStartMs }, transferBytes }: RequestDraft): number {
  if (requestStartMs === null || responseStartMs === null || transferBytes === 0) return Infinity;
  return responseStartMs - requestStartMs;
}

/** TCP's handshake, milliseconds; infinite where none is seen, or not apart from that of TLS. */
function transportMs({ url, protocol, phases }: RequestDraft): number {
  const { connectStartMs, connectEndMs, secureStartMs } = phases;
  const endMs = url.startsWith('http:') ? connectEndMs : secureStartMs;
  return protocol === 'h3' || connectStartMs === null || endMs === null ? Infinity : endMs - connectStartMs;
}

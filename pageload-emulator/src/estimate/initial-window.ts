import type { RecordedRequest } from '@hopwise/contract';
import { normalised } from '../network/log-density.ts';
import { handshakeRtt } from '../recording/origin-timings.ts';
import { responseBytesOf } from '../recording/sizes.ts';
import { mean } from '../util/statistics.ts';

/**
 * Initial windows in use, packets, and how common they are believed to be: most hosts have RFC 6928's 10, CDNs
 * more (Rüth, Bormann and Hohlfeld, "Large-Scale Scanning of TCP's Initial Window", IMC 2017). The shares are assumed.
 */
const WINDOWS: readonly { packets: number; share: number }[] = [
  { packets: 10, share: 0.75 },
  { packets: 20, share: 0.1 },
  { packets: 32, share: 0.1 },
  { packets: 64, share: 0.05 },
];
const PACKET_BYTES = 1_430;
/** Responses of fewer packets fit into any initial window. */
const MIN_PACKETS = 12;
/** On shorter paths a browser's own time looks like round trips. */
const MIN_RTT_MS = 8;
/** How far the time of a response may be off (standard deviation). */
const NOISE_RTT = 0.2;
const NOISE_MS = 3;
/** The link may be so many times faster than a page has filled it. */
const FASTER = [1, 2, 4, 8];
/** Share of responses that took longer for another reason, such as a loss. */
const LATE_SHARE = 0.15;
const MEAN_LATE_RTT = 2;
/** The usual window is believed in until it is less probable than this. */
const MIN_PROBABILITY = 0.1;

/**
 * TCP's initial window of an origin's server, from the first responses on its new connections: what does not fit into the window
 * comes a round trip later, and twice as much another one later. QUIC spreads its flights, so that they are not told
 * apart.
 *
 * @param requests of one origin
 * @param rttMs round trip to it, milliseconds
 * @param downBps rate at which packets that were sent together arrive at least
 * @returns packets; null when nothing speaks against the usual window (`defaultServer`)
 */
export function initialWindow(
  requests: readonly RecordedRequest[],
  rttMs: number,
  downBps: number,
): number | null {
  if (rttMs < MIN_RTT_MS) return null;
  const logs = WINDOWS.map(({ share }) => Math.log(share));
  let seen = false;
  for (const request of firstResponses(requests)) {
    const packets = responseBytesOf(request) / PACKET_BYTES;
    if (packets < MIN_PACKETS) continue;
    seen = true;
    const tookMs = request.endMs - request.phases.responseStartMs!;
    const slowestMs = (responseBytesOf(request) * 8000) / downBps;
    for (const [index, { packets: window }] of WINDOWS.entries()) {
      const rounds = Math.max(0, Math.ceil(Math.log2(packets / window + 1)) - 1);
      const arrivalMs = slowestMs * lastFlight(packets, window);
      const likelihoods = FASTER.map((factor) =>
        likelihood(tookMs - rounds * rttMs - arrivalMs / factor, rttMs),
      );
      logs[index]! += Math.log(mean(likelihoods));
    }
  }
  if (!seen) return null;
  const probabilities = normalised(logs);
  if (probabilities[0]! >= MIN_PROBABILITY) return null;
  return WINDOWS[probabilities.indexOf(Math.max(...probabilities))]!.packets;
}

/** First responses on TCP connections that the origin's requests opened, whose times and sizes were recorded. */
function firstResponses(requests: readonly RecordedRequest[]): RecordedRequest[] {
  const used = new Set<string>();
  return requests.filter((request) => {
    const { protocol, phases, connectionId, transferBytes, bodyBytes, fromCache } = request;
    if (protocol === null || protocol === 'h3' || fromCache) return false;
    const isFirst = connectionId === null || !used.has(connectionId);
    if (connectionId !== null) used.add(connectionId);
    const isTimed = phases.responseStartMs !== null && request.endMs > phases.responseStartMs;
    const isSized = transferBytes !== null || bodyBytes !== null;
    if (!isFirst || !isTimed || !isSized || handshakeRtt(request) === null) return false;
    // Another response on the connection shares its window.
    return requests.every(
      (other) =>
        other === request || other.connectionId !== connectionId || other.startMs >= request.endMs - 1,
    );
  });
}

/** Share of the packets that come in the last of the flights: the others arrive while the next round trip goes on. */
function lastFlight(packets: number, window: number): number {
  let sent = 0;
  let flight = window;
  while (sent + flight < packets) {
    sent += flight;
    flight *= 2;
  }
  return (packets - sent) / packets;
}

function likelihood(lateMs: number, rttMs: number): number {
  const noiseMs = NOISE_RTT * rttMs + NOISE_MS;
  const onTime = Math.exp(-0.5 * (lateMs / noiseMs) ** 2) / (noiseMs * 2.507);
  const meanMs = MEAN_LATE_RTT * rttMs;
  const late = lateMs > 0 ? Math.exp(-lateMs / meanMs) / meanMs : 0;
  return (1 - LATE_SHARE) * onTime + LATE_SHARE * late + 1e-9;
}

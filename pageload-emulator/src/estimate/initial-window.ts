import { mean, type RecordedRequest } from '@hopwise/contract';
import { MIN_FLIGHTS_RTT_MS } from '../network/bounds.ts';
import { normalised } from '../network/log-density.ts';
import { PACKET } from '../network/packet.ts';
import { handshakeTrips } from '../recording/handshake-trips.ts';
import { responseBytesOf } from '../recording/sizes.ts';

/**
 * Initial windows in use, packets, with their prior probabilities: most hosts use RFC 6928's 10, CDNs more (Rüth, Bormann and Hohlfeld, "Large-Scale Scanning of TCP's Initial Window", IMC 2017). The shares are assumed.
 */
const WINDOWS: readonly { packets: number; share: number }[] = [
  { packets: 10, share: 0.75 },
  { packets: 20, share: 0.1 },
  { packets: 32, share: 0.1 },
  { packets: 64, share: 0.05 },
];
/** Responses of fewer packets fit into any initial window. */
const MIN_PACKETS = 12;
/** Standard deviation of a response's time: a share of the round trip, plus a constant. */
const NOISE_RTT = 0.2;
const NOISE_MS = 3;
/** How many times faster than observed the link may be. */
const FASTER = [1, 2, 4, 8];
/** Share of responses that are late for another reason, such as a loss. */
const LATE_SHARE = 0.15;
const MEAN_LATE_RTT = 2;
/** The usual window is assumed until it is less probable than this. */
const MIN_PROBABILITY = 0.1;

/**
 * Estimates TCP's initial window of an origin's server from the first responses on its new connections: packets beyond the
 * window arrive a round trip later, those beyond three times the window another one later. QUIC paces its flights, so that
 * they cannot be distinguished.
 *
 * @param requests of one origin
 * @param rttMs round trip to it, milliseconds
 * @param downBps minimum rate at which packets sent together arrive, bits per second
 * @returns packets; null when the usual window (`defaultServer`) explains the responses
 */
export function initialWindow(
  requests: readonly RecordedRequest[],
  rttMs: number,
  downBps: number,
): number | null {
  if (rttMs < MIN_FLIGHTS_RTT_MS) return null;
  const logs = WINDOWS.map(({ share }) => Math.log(share));
  let seen = false;
  for (const request of firstResponses(requests)) {
    const packets = responseBytesOf(request) / PACKET.tcp.payloadBytes;
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

/** First responses on new TCP connections whose times and sizes were recorded. */
function firstResponses(requests: readonly RecordedRequest[]): RecordedRequest[] {
  const used = new Set<string>();
  return requests.filter((request) => {
    const { protocol, phases, connectionId, transferBytes, bodyBytes, fromCache } = request;
    if (protocol === null || protocol === 'h3' || fromCache) return false;
    const isFirst = connectionId === null || !used.has(connectionId);
    if (connectionId !== null) used.add(connectionId);
    const isTimed = phases.responseStartMs !== null && request.endMs > phases.responseStartMs;
    const isSized = transferBytes !== null || bodyBytes !== null;
    if (!isFirst || !isTimed || !isSized || handshakeTrips(request, true).length === 0) return false;
    // No other response may have shared the window.
    return requests.every(
      (other) =>
        other === request || other.connectionId !== connectionId || other.startMs >= request.endMs - 1,
    );
  });
}

/** Share of the packets in the last flight: the others arrive during the round trips before it. */
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

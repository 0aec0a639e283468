import { PACKET, type Transport } from '../network/packet.ts';
import { REQUEST_WINDOW } from './request-sender.ts';

/**
 * How long a request is being sent on an uplink that nothing else uses and that loses nothing, milliseconds, from its first byte to its last, as
 * `RequestSender` sends it: in flights, which slow start doubles until they fill the uplink.
 *
 * @param beforeBytes what the connection had sent before, which has widened its window
 * @param rttMs round trip to the server, milliseconds
 * @param upBps rate of the uplink, bits per second
 */
export function uploadTime(
  bytes: number,
  beforeBytes: number,
  transport: Transport,
  rttMs: number,
  upBps: number,
): number {
  const { payloadBytes, overheadBytes } = PACKET[transport];
  const packetMs = (8000 * (payloadBytes + overheadBytes)) / upBps;
  let packets = bytes / payloadBytes;
  let tookMs = 0;
  for (let window = REQUEST_WINDOW[transport] + beforeBytes / payloadBytes; packets > window; window *= 2) {
    const flightMs = window * packetMs;
    const ackedMs = packetMs + rttMs;
    if (flightMs >= ackedMs) break;
    tookMs += ackedMs;
    packets -= window;
  }
  return tookMs + packets * packetMs;
}

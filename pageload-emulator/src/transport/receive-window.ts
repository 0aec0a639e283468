import type { Transport } from './congestion-control.ts';
import { PACKET } from './packet.ts';

/** Linux: the largest receive buffer of a TCP connection (`net.ipv4.tcp_rmem`), to which it tunes itself as fast as a flow grows. */
const TCP_BYTES = 6 * 2 ** 20;
const TCP_PACKETS = TCP_BYTES / PACKET.tcp.payloadBytes;
/** Chromium: `kQuicSessionMaxRecvWindowSize`, `kQuicStreamMaxRecvWindowSize`; HTTP/2's windows are as large and lie behind TCP's. */
const QUIC_CONNECTION_BYTES = 15 * 2 ** 20;
const QUIC_STREAM_BYTES = 6 * 2 ** 20;

/**
 * Packets that a browser lets a server have under way: TCP's receive window (RFC 9293 section 3.8), QUIC's flow control of
 * a connection and of its streams together (RFC 9000 section 4.1). Credit comes back with acknowledgements.
 *
 * @param streams responses that are being sent in a round trip
 */
export function receiveWindow(transport: Transport, streams: number): number {
  if (transport === 'tcp') return TCP_PACKETS;
  return Math.min(QUIC_CONNECTION_BYTES, Math.max(1, streams) * QUIC_STREAM_BYTES) / PACKET.quic.payloadBytes;
}

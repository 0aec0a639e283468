import { PACKET, type Transport } from '../network/packet.ts';

/** Linux: maximum receive buffer of a TCP connection (`net.ipv4.tcp_rmem`); auto-tuning reaches it as fast as a flow grows. */
const TCP_BYTES = 6 * 2 ** 20;
const TCP_PACKETS = TCP_BYTES / PACKET.tcp.payloadBytes;
/** Chromium: `kQuicSessionMaxRecvWindowSize`, `kQuicStreamMaxRecvWindowSize`. HTTP/2's windows are as large, so that TCP's is the limit. */
const QUIC_CONNECTION_BYTES = 15 * 2 ** 20;
const QUIC_STREAM_BYTES = 6 * 2 ** 20;

/**
 * Returns the packets in flight that a browser allows a server: TCP's receive window (RFC 9293 section 3.8), or QUIC's flow
 * control of a connection and its streams together (RFC 9000 section 4.1). Acknowledgements return the credit.
 *
 * @param streams responses sent concurrently within a round trip
 */
export function receiveWindow(transport: Transport, streams: number): number {
  if (transport === 'tcp') return TCP_PACKETS;
  return Math.min(QUIC_CONNECTION_BYTES, Math.max(1, streams) * QUIC_STREAM_BYTES) / PACKET.quic.payloadBytes;
}

import type { Transport } from './congestion-control.ts';

/** Sizes of packets, bytes. */
export interface PacketFormat {
  /** Response bytes that a full packet carries. */
  payloadBytes: number;
  /** Headers and tags on the wire: IPv4 with TCP and TLS 1.3, or with UDP and QUIC's short header. */
  overheadBytes: number;
  /** An acknowledgement on the wire. */
  ackBytes: number;
}

export const PACKET: Record<Transport, PacketFormat> = {
  tcp: { payloadBytes: 1_430, overheadBytes: 70, ackBytes: 52 },
  quic: { payloadBytes: 1_300, overheadBytes: 60, ackBytes: 60 },
};

/** One acknowledgement for two packets (RFC 5681 section 4.2, RFC 9000 section 13.2.2). */
export const PACKETS_PER_ACK = 2;

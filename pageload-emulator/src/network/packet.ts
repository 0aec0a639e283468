/** Sizes of packets on a path whose IP packets hold 1,500 bytes: the only place that has them. */

/** TCP and QUIC differ in their packets and their habits, not in the equations of congestion control. */
export type Transport = 'tcp' | 'quic';

/** TCP payload of a full segment, with the timestamps option. */
export const SEGMENT_BYTES = 1_448;

/** A full segment as an IP packet. */
export const SEGMENT_WIRE_BYTES = 1_500;

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

/** Fractions of packets add up with rounding errors: less than this counts as zero. */
export const TINY = 1e-6;

/** One acknowledgement for two packets (RFC 5681 section 4.2, RFC 9000 section 13.2.2). */
export const PACKETS_PER_ACK = 2;

/** The kernel's figures of a TCP connection: `TCP_INFO` (tcp(7); `struct tcp_info`, linux/tcp.h). */
import { cLibrary } from './c-library.ts';

/** Figures of one connection on the receiver's side. */
export interface TcpInfo {
  /** Minimum round trip, milliseconds; null before the first sample. */
  minRttMs: number | null;
  /** Smoothed round trip (RFC 6298), milliseconds; null before the first sample. */
  rttMs: number | null;
  /** Segments with data, received and sent. */
  dataSegmentsIn: number;
  dataSegmentsOut: number;
  /** Retransmitted segments. */
  retransmitted: number;
  /** Bytes received in order, TLS records included. */
  bytesIn: number;
  /** Latest delivery rate of sent data, bits per second; null where too little was sent (`tcpi_delivery_rate_app_limited`). */
  sendingBps: number | null;
  /** Size of the largest segments received, bytes; 0 before the first. */
  maxSegmentBytes: number;
  /** Smoothed round trip as received data show it (RFC 7323), queueing included, milliseconds; null before the first sample. */
  receiverRttMs: number | null;
  /** Data segments received out of order (`tcpi_rcv_ooopack`, Linux 5.4). */
  outOfOrder: number;
}

/** Figures that distinguish a peer that has vanished from one that is silent. */
export interface TcpSilence {
  /** Time since the peer's last packet, milliseconds. */
  unheardMs: number;
  /** Retransmissions and probes since the peer's last acknowledgement. */
  unanswered: number;
}

const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const STRUCT_BYTES = 232;
const RETRANSMITS_OFFSET = 2;
const PROBES_OFFSET = 3;
const FLAGS_OFFSET = 7;
const RCV_MSS_OFFSET = 20;
const LAST_DATA_RECV_OFFSET = 52;
const LAST_ACK_RECV_OFFSET = 56;
const RTT_OFFSET = 68;
const RCV_RTT_OFFSET = 92;
const TOTAL_RETRANS_OFFSET = 100;
const BYTES_RECEIVED_OFFSET = 128;
const MIN_RTT_OFFSET = 148;
const DATA_SEGS_IN_OFFSET = 152;
const DATA_SEGS_OUT_OFFSET = 156;
const DELIVERY_RATE_OFFSET = 160;
const RCV_OOOPACK_OFFSET = 224;
const NO_RTT_YET = 0xffffffff;

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
const APP_LIMITED = LITTLE_ENDIAN ? 1 : 0x80;

/** Reads part of `TCP_INFO`; null for a socket that is not TCP, and where it cannot be read. */
type Reader<T> = (socket: number) => T | null;

/** A reader of a connection's figures. It returns null on systems other than Linux, whose structures differ. */
export function tcpInfoReader(libraries?: readonly string[]): Reader<TcpInfo> {
  return reader((view) => {
    const u32 = (offset: number): number => view.getUint32(offset, LITTLE_ENDIAN);
    const u64 = (offset: number): number => Number(view.getBigUint64(offset, LITTLE_ENDIAN));
    const minRttUs = u32(MIN_RTT_OFFSET);
    const rttUs = u32(RTT_OFFSET);
    const receiverRttUs = u32(RCV_RTT_OFFSET);
    const sendingBps = 8 * u64(DELIVERY_RATE_OFFSET);
    return {
      minRttMs: minRttUs === NO_RTT_YET || minRttUs === 0 ? null : minRttUs / 1000,
      rttMs: rttUs === 0 ? null : rttUs / 1000,
      dataSegmentsIn: u32(DATA_SEGS_IN_OFFSET),
      dataSegmentsOut: u32(DATA_SEGS_OUT_OFFSET),
      retransmitted: u32(TOTAL_RETRANS_OFFSET),
      bytesIn: u64(BYTES_RECEIVED_OFFSET),
      sendingBps: sendingBps === 0 || view.getUint8(FLAGS_OFFSET) & APP_LIMITED ? null : sendingBps,
      maxSegmentBytes: u32(RCV_MSS_OFFSET),
      receiverRttMs: receiverRttUs === 0 ? null : receiverRttUs / 1000,
      outOfOrder: u32(RCV_OOOPACK_OFFSET),
    };
  }, libraries);
}

/** A reader of a peer's silence; null as for `tcpInfoReader`. */
export function tcpSilenceReader(): Reader<TcpSilence> {
  return reader((view) => ({
    // Data from the peer count too: they carry no new acknowledgement while nothing is outstanding.
    unheardMs: Math.min(
      view.getUint32(LAST_DATA_RECV_OFFSET, LITTLE_ENDIAN),
      view.getUint32(LAST_ACK_RECV_OFFSET, LITTLE_ENDIAN),
    ),
    unanswered: view.getUint8(RETRANSMITS_OFFSET) + view.getUint8(PROBES_OFFSET),
  }));
}

function reader<T>(read: (view: DataView) => T, libraries?: readonly string[]): Reader<T> {
  const getsockopt = cLibrary(libraries)?.func(
    'int getsockopt(int socket, int level, int name, void *value, _Inout_ uint *length)',
  );
  if (!getsockopt) return () => null;
  const buffer = Buffer.alloc(STRUCT_BYTES);
  const view = new DataView(buffer.buffer, buffer.byteOffset, STRUCT_BYTES);
  return (socket) => {
    const length = [STRUCT_BYTES];
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, buffer, length) !== 0) return null;
    return length[0]! < RCV_OOOPACK_OFFSET + 4 ? null : read(view);
  };
}

/** What the kernel knows of a TCP connection: `TCP_INFO` (tcp(7); `struct tcp_info`, linux/tcp.h). */
import koffi, { type LibraryHandle } from 'koffi';

/** Figures of one connection as its receiver sees them. */
export interface TcpInfo {
  /** Least round trip, milliseconds; null before the first sample. */
  minRttMs: number | null;
  /** Smoothed round trip (RFC 6298), milliseconds; null before the first sample. */
  rttMs: number | null;
  /** Segments with data that arrived, and that left. */
  dataSegmentsIn: number;
  dataSegmentsOut: number;
  /** Segments that left again because they, or their acknowledgements, were taken for lost. */
  retransmitted: number;
  /** Bytes that arrived in order, TLS records included. */
  bytesIn: number;
  /** Latest rate at which what was sent was acknowledged, bits per second; null where there was too little to send. */
  sendingBps: number | null;
  /** Data segments that arrived out of order (`tcpi_rcv_ooopack`, Linux 5.4). */
  outOfOrder: number;
}

const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const STRUCT_BYTES = 232;
const FLAGS_OFFSET = 7;
const RTT_OFFSET = 68;
const TOTAL_RETRANS_OFFSET = 100;
const BYTES_RECEIVED_OFFSET = 128;
const MIN_RTT_OFFSET = 148;
const DATA_SEGS_IN_OFFSET = 152;
const DATA_SEGS_OUT_OFFSET = 156;
const DELIVERY_RATE_OFFSET = 160;
const RCV_OOOPACK_OFFSET = 224;
const NO_RTT_YET = 0xffffffff;

/** glibc, then the names that musl goes by. */
const C_LIBRARIES = [
  'libc.so.6',
  'libc.so',
  `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`,
];

/**
 * A reader of `TCP_INFO`. It returns null for a socket that is not TCP, without a C library that
 * can be loaded, and on systems other than Linux, whose structures differ.
 */
export function tcpInfoReader(libraries: string[] = C_LIBRARIES): (socket: number) => TcpInfo | null {
  if (process.platform !== 'linux') return () => null;
  const library = firstOf(libraries);
  if (!library) return () => null;
  const getsockopt = library.func(
    'int getsockopt(int socket, int level, int name, void *value, _Inout_ uint *length)',
  );
  const buffer = Buffer.alloc(STRUCT_BYTES);
  const view = new DataView(buffer.buffer, buffer.byteOffset, STRUCT_BYTES);
  const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
  const u32 = (offset: number): number => view.getUint32(offset, littleEndian);
  const u64 = (offset: number): number => Number(view.getBigUint64(offset, littleEndian));
  const appLimited = littleEndian ? 1 : 0x80;
  return (socket) => {
    const length = [STRUCT_BYTES];
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, buffer, length) !== 0) return null;
    if (length[0]! < RCV_OOOPACK_OFFSET + 4) return null;
    const minRttUs = u32(MIN_RTT_OFFSET);
    const rttUs = u32(RTT_OFFSET);
    const sendingBps = 8 * u64(DELIVERY_RATE_OFFSET);
    return {
      minRttMs: minRttUs === NO_RTT_YET || minRttUs === 0 ? null : minRttUs / 1000,
      rttMs: rttUs === 0 ? null : rttUs / 1000,
      dataSegmentsIn: u32(DATA_SEGS_IN_OFFSET),
      dataSegmentsOut: u32(DATA_SEGS_OUT_OFFSET),
      retransmitted: u32(TOTAL_RETRANS_OFFSET),
      bytesIn: u64(BYTES_RECEIVED_OFFSET),
      sendingBps: sendingBps === 0 || view.getUint8(FLAGS_OFFSET) & appLimited ? null : sendingBps,
      outOfOrder: u32(RCV_OOOPACK_OFFSET),
    };
  };
}

function firstOf(libraries: string[]): LibraryHandle | null {
  for (const name of libraries) {
    try {
      return koffi.load(name);
    } catch {
      // Not on this system; try the next.
    }
  }
  return null;
}

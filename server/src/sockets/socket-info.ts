/** TCP sockets as `ss -tinHO` prints them. */

/** A connection of the server's, as the kernel counts it (tcp(7), `TCP_INFO`). */
export interface SocketInfo {
  address: string;
  port: number;
  /** Window at present and the threshold that the last loss left, segments; null before any loss. */
  cwnd: number;
  ssthresh: number | null;
  rttMs: number;
  rtoMs: number;
  segmentBytes: number;
  bytesAcked: number;
  /** Segments with data, those that were sent again included, and the latter alone. */
  segments: number;
  retransmitted: number;
  /** How long the connection had data to send or to be acknowledged, and for how much of it the receiver's window was full. */
  busyMs: number;
  receiverLimitedMs: number;
  deliveryBps: number;
  /** Whether all is acknowledged and nothing has been sent for a second. */
  isIdle: boolean;
}

const IDLE_MS = 1000;

/**
 * Reads a line.
 *
 * @param ports of the server, whose connections alone are wanted
 * @returns null for other sockets, and those that have sent nothing
 */
export function parseSocket(line: string, ports: ReadonlySet<number>): SocketInfo | null {
  const [, , queued = '', local = '', peer = '', ...words] = line.trim().split(/\s+/);
  const [own, other] = [splitEndpoint(local), splitEndpoint(peer)];
  if (own === null || other === null || !ports.has(own.port)) return null;
  const found = new Map<string, string>();
  for (const [index, word] of words.entries()) {
    const colon = word.indexOf(':');
    if (colon > 0) found.set(word.slice(0, colon), word.slice(colon + 1));
    else if (word === 'delivery_rate') found.set(word, words[index + 1] ?? '');
  }
  /** The first number of a value such as `0/12`, `48ms`, `44ms(91.7%)`. */
  const figure = (name: string): number => Number(/^[\d.]+/.exec(found.get(name) ?? '')?.[0] ?? 0);
  const segments = figure('data_segs_out');
  if (segments === 0) return null;
  return {
    ...other,
    cwnd: figure('cwnd'),
    ssthresh: found.has('ssthresh') ? figure('ssthresh') : null,
    rttMs: figure('rtt'),
    rtoMs: figure('rto'),
    segmentBytes: figure('mss'),
    bytesAcked: figure('bytes_acked'),
    segments,
    retransmitted: Number(found.get('retrans')?.split('/')[1] ?? 0),
    busyMs: figure('busy'),
    receiverLimitedMs: figure('rwnd_limited'),
    deliveryBps: figure('delivery_rate'),
    isIdle: queued === '0' && !found.has('unacked') && figure('lastsnd') >= IDLE_MS,
  };
}

/** Splits `1.2.3.4:443`, `[2001:db8::1]:443` and `[::ffff:1.2.3.4]:443`, also with a device as in `1.2.3.4%eth0:443`. */
function splitEndpoint(text: string): { address: string; port: number } | null {
  const [, address = '', port = ''] = /^\[?([0-9a-fA-F.:]+)(?:%[^\]:]+)?\]?:(\d+)$/.exec(text) ?? [];
  if (address === '') return null;
  return { address: address.replace(/^::ffff:(?=\d+\.)/, ''), port: Number(port) };
}

/**
 * Whether the kernel's timer must have sent a segment again: there were losses, and the transfer took longer than its slow start,
 * its bytes at the measured rate, and a retransmission timeout together. `ss` of Debian 12 does not print the kernel's count.
 *
 * @param window initial, segments
 */
export function hasTimedOut(socket: SocketInfo, window: number): boolean {
  if (socket.retransmitted === 0) return false;
  const rounds = Math.ceil(Math.log2(socket.segments / window + 1));
  const sendingMs = socket.deliveryBps === 0 ? 0 : (8000 * socket.bytesAcked) / socket.deliveryBps;
  return socket.busyMs > rounds * socket.rttMs + sendingMs + socket.rtoMs;
}
